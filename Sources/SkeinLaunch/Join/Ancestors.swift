import Foundation

/// The processes that this one descends from.
package enum Ancestors {
    /// More than any launcher, shell and wrapper together.
    private static let most = 64

    /// Their names, the parent first, as far as the system shows them: a container hides those
    /// outside of it. Empty where there is no /proc.
    package static var names: [String] {
        var names: [String] = []
        var process = Int(getppid())
        while process > 0, names.count < most,
            let text = FileManager.default.contents(atPath: "/proc/\(process)/stat"),
            let (name, parent) = parse(text)
        {
            names.append(name)
            process = parent
        }
        return names
    }

    /// Name and parent of proc(5)'s stat: `77 (a name) S 76 ...`. A name may have brackets itself,
    /// so it ends at the last one.
    static func parse(_ stat: Data) -> (name: String, parent: Int)? {
        guard let open = stat.firstIndex(of: UInt8(ascii: "(")),
            let close = stat.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return nil }
        let rest = stat[(close + 1)...].split(separator: UInt8(ascii: " "))
        guard rest.count >= 2, let parent = Int(String(decoding: rest[1], as: UTF8.self)) else {
            return nil
        }
        return (String(decoding: stat[(open + 1)..<close], as: UTF8.self), parent)
    }
}
