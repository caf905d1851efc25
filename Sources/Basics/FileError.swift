import Foundation

/// A file operation that the system refused.
public enum FileError: Error, Equatable {
    /// The system call `operation` on `path` failed with `code` (errno).
    case failed(operation: String, path: String, code: Int32)
    /// `path` changed or ended while it was being read.
    case shortRead(path: String, expected: Int, found: Int)
}

extension FileError: Explained {
    public var explanation: Explanation {
        switch self {
        case .failed(let operation, let path, let code):
            Explanation(
                what: "cannot \(operation): \(String(cString: strerror(code)))",
                place: path, remedy: Self.remedy(for: code), status: .inputOutput)
        case .shortRead(let path, let expected, let found):
            Explanation(
                what: "the file ended after \(found) of \(expected) bytes", place: path,
                remedy: "make sure that nothing else writes to it, then try again",
                status: .inputOutput)
        }
    }

    private static func remedy(for code: Int32) -> String {
        switch code {
        case ENOENT: "check the path"
        case EACCES, EPERM, EROFS: "check the permissions of the file and of its directory"
        case ENOSPC, EDQUOT: "free some space on this file system, then continue with --resume"
        case EFBIG:
            "raise the limit of file sizes (ulimit -f), then continue with --resume"
        case EISDIR: "give a file, not a directory"
        case ENOTDIR: "a part of the path is a file and not a directory; check it"
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n)"
        default: "check the path and the file system"
        }
    }
}
