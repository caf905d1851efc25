/// Takes paths apart and puts them together, as dirname(3) and basename(3) do.
///
/// Foundation's `NSString` functions are not used: on Linux `deletingLastPathComponent` traps when
/// the last part has one character. The disk is not asked; `..` and links stay as they are.
package enum FilePath {
    private static let slash = UInt8(ascii: "/")

    /// The directory that holds what `path` names: `a` for `a/b`, `a//b` and `a/b/`; `.` for a bare
    /// name and for an empty path; `/` for `/` and `/a`.
    package static func parent(of path: String) -> String {
        let bytes = Array(path.utf8)
        guard let last = bytes.lastIndex(where: { $0 != slash }) else {
            return bytes.isEmpty ? "." : "/"
        }
        guard let cut = bytes[...last].lastIndex(of: slash) else { return "." }
        guard let end = bytes[..<cut].lastIndex(where: { $0 != slash }) else { return "/" }
        return String(decoding: bytes[...end], as: UTF8.self)
    }

    /// The last part of `path`, without trailing slashes: `b` for `a/b` and `a/b/`; `/` for `/`;
    /// empty for an empty path.
    package static func name(of path: String) -> String {
        let bytes = Array(path.utf8)
        guard let last = bytes.lastIndex(where: { $0 != slash }) else {
            return bytes.isEmpty ? "" : "/"
        }
        let start = bytes[...last].lastIndex(of: slash).map { $0 + 1 } ?? 0
        return String(decoding: bytes[start...last], as: UTF8.self)
    }

    /// `path` without slashes at its end: `a/b` for `a/b/`; `/` stays.
    package static func trimmed(_ path: String) -> String {
        let bytes = Array(path.utf8)
        guard let last = bytes.lastIndex(where: { $0 != slash }) else {
            return bytes.isEmpty ? "" : "/"
        }
        return String(decoding: bytes[...last], as: UTF8.self)
    }

    /// `name` in `directory`, with one slash between them.
    package static func join(_ directory: String, _ name: String) -> String {
        guard let last = directory.utf8.last else { return name }
        return last == slash ? directory + name : directory + "/" + name
    }
}
