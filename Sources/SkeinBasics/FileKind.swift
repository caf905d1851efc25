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
