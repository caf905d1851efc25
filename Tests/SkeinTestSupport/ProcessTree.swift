import Foundation

/// Processes and their children, from /proc; none where there is no /proc.
package enum ProcessTree {
    /// The processes that `parent` started and has not yet reaped, with their command lines.
    package static func children(of parent: Int32) -> [(identifier: Int32, words: [String])] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.sorted().compactMap { identifier in
            guard let state = state(of: identifier), state.parent == parent, state.letter != "Z"
            else { return nil }
            let line = FileManager.default.contents(atPath: "/proc/\(identifier)/cmdline") ?? Data()
            return (
                identifier,
                line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            )
        }
    }

    /// Whether a process exists and is not a zombie.
    package static func isAlive(_ identifier: Int32) -> Bool {
        state(of: identifier).map { $0.letter != "Z" } ?? false
    }

    /// The third and fourth field of stat; the second is a name in parentheses, of any characters.
    private static func state(of identifier: Int32) -> (letter: Substring, parent: Int32)? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(identifier)/stat") else {
            return nil
        }
        let text = String(decoding: data, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 1, let parent = Int32(fields[1]) else { return nil }
        return (fields[0], parent)
    }
}
