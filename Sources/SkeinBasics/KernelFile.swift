import Foundation

/// Files that the kernel makes while they are read, whose size is not known before: those of /proc and
/// of control groups.
enum KernelFile {
    /// A host with many containers has thousands of mounts of 200 bytes; other files are short.
    private static let mostBytes = 4 << 20

    /// All of a file; empty if it cannot be read, or is longer than any of them.
    static func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count <= mostBytes {
            let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : "" }
            bytes += piece[..<count]
        }
        return ""
    }

    /// Its lines, without those that are empty.
    static func lines(_ path: String) -> [Substring] { text(path).split(separator: "\n") }
}
