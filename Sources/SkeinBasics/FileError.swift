import Foundation

/// A file operation that the system refused.
package enum FileError: Error, Equatable {
    /// What a file is wanted for.
    package enum Use: Sendable, Equatable { case reading, writing }

    /// The system call `operation` on `path` failed with `code` (errno).
    case failed(operation: String, path: String, code: Int32)
    /// `path` changed or ended while it was being read.
    case shortRead(path: String, expected: Int, found: Int)
    /// `path` leads to something that cannot be read or written as a whole file.
    case wrongKind(path: String, found: FileKind, use: Use)
    /// The system has no `bytes` of memory for the contents of `path`.
    case noMemory(path: String, bytes: Int)
}

extension FileError {
    /// Whether the error says nothing about the file's contents: a permission, a limit, memory or a
    /// sound disk was lacking, and the same bytes may be read once it is there.
    package var isPassing: Bool {
        switch self {
        case .failed(_, _, let code):
            [EACCES, EPERM, EMFILE, ENFILE, ENOMEM, EAGAIN, ESTALE, ETIMEDOUT].contains(code)
                || Self.isOfDisk(code)
        case .noMemory: true
        case .shortRead, .wrongKind: false
        }
    }
}

extension FileError {
    /// Whether the disk could not read or write, or the server or device that has the files is away. It
    /// may later, and trying wears out what is left of a disk.
    package var isOfDisk: Bool {
        if case .failed(_, _, let code) = self { Self.isOfDisk(code) } else { false }
    }

    package static func isOfDisk(_ code: Int32) -> Bool {
        [EIO, ENXIO, ENODEV, ENOTCONN, EHOSTDOWN].contains(code)
    }
}

extension FileError: Explained {
    package var explanation: Explanation {
        switch self {
        case .failed(let operation, let path, let code):
            Explanation(
                what: "cannot \(operation): \(String(cString: strerror(code)))",
                place: path, remedy: Self.remedy(for: code, path), status: .inputOutput)
        case .shortRead(let path, let expected, let found):
            Explanation(
                what: "the file ended after \(found) of \(expected) bytes", place: path,
                remedy: "make sure that nothing else writes to it, then try again",
                status: .inputOutput)
        case .wrongKind(let path, .directory, _):
            Explanation(
                what: "this is a directory, and a file is needed", place: path,
                remedy: Self.remedy(for: EISDIR, path), status: .inputOutput)
        case .wrongKind(let path, let found, .reading):
            Explanation(
                what: "this is \(found.text), and a regular file is needed", place: path,
                remedy: "write its contents to a file, and give that", status: .inputOutput)
        case .wrongKind(let path, let found, .writing):
            Explanation(
                what: "this is \(found.text), which cannot be written", place: path,
                remedy: "give the name of a file, a named pipe or a device",
                status: .inputOutput)
        case .noMemory(let path, let bytes):
            Explanation(
                what: "cannot allocate the \(bytes) bytes of this file",
                place: path, remedy: MemoryShortage.remedy, status: .inputOutput)
        }
    }

    /// What to do about a path where nothing is.
    ///
    /// - Parameter path: as it was given.
    /// - Returns: a remedy, as sentences of errors have it.
    package static func remedy(forMissing path: String) -> String {
        path.contains("*")
            ? "patterns with * are not expanded here: write the whole path, of several data files "
                + "with commas between them" : "check the path"
    }

    private static func remedy(for code: Int32, _ path: String) -> String {
        switch code {
        case ENOENT: remedy(forMissing: path)
        case EACCES, EPERM, EROFS: "check the permissions of the file and of its directory"
        case ENOSPC, EDQUOT:
            "free some space on this file system, then try again (continue a run with --resume)"
        case EFBIG:
            "raise the file size limit (ulimit -f), then try again (continue a run with --resume)"
        case EISDIR: "give a file, not a directory"
        case ENOTDIR: "a part of the path is a file, not a directory; check it"
        case EMFILE, ENFILE: "raise the limit on open files (ulimit -n)"
        case EIO: "the disk cannot read or write this file: check the disk, and restore a copy"
        default: "check the path and the file system"
        }
    }
}
