import Foundation

/// What a path can lead to.
package enum FileKind: Sendable, Equatable {
    case regular
    case directory
    case pipe
    case socket
    case characterDevice
    case blockDevice
    case other

    /// The kind in a `stat.st_mode`.
    package init(mode: mode_t) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            case S_IFBLK: .blockDevice
            default: .other
            }
    }

    /// What is at a path, or where the links at it lead.
    ///
    /// - Parameter path: absolute, or from the working directory.
    /// - Returns: nil: nothing.
    /// - Throws: `FileError` where the system does not say, as of what is in a folder that this
    ///   user may not search: it may well be there.
    package static func at(_ path: String) throws(FileError) -> FileKind? {
        try found(SystemCalls().status(of: path), path)
    }

    /// The same on another disk.
    package static func at(_ path: String, in calls: any FileCalls) throws -> FileKind? {
        try found(calls.status(of: path), path)
    }

    private static func found(
        _ status: CallResult<FileStatus>, _ path: String
    ) throws(FileError) -> FileKind? {
        if let code = status.code, isNothing(code) { return nil }
        return try status.get("look at", path).kind
    }

    /// Whether `errno` of a call such as `stat` says that nothing is at its path.
    package static func isNothing(_ code: Int32) -> Bool { code == ENOENT || code == ENOTDIR }

    /// With its article, for a sentence.
    var text: String {
        switch self {
        case .regular: "a regular file"
        case .directory: "a directory"
        case .pipe: "a named pipe"
        case .socket: "a socket"
        case .characterDevice, .blockDevice: "a device"
        case .other: "neither a file nor a directory"
        }
    }
}
