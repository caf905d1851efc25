import SkeinBasics

/// The hosts that `skein launch --hosts` starts workers on. Pure.
///
/// A line is `user@host [threads=N] [model=PATH] [skein=PATH] [name=S]`; `#` begins a comment.
package struct HostFile: Sendable, Equatable {
    struct Host: Sendable, Equatable {
        /// For ssh: `user@host`, `host`, or a name in ~/.ssh/config.
        var destination: String
        /// nil: `--threads`, else all cores of the host.
        var threads: Int?
        /// Its path on the host; nil: fetched from the coordinator.
        var model: String?
        /// The program's path on the host.
        var skein = "skein"
        var name: String
    }

    let hosts: [Host]
    package var count: Int { hosts.count }

    /// - Parameters:
    ///   - text: the file's content.
    ///   - path: for errors.
    /// - Throws: what is wrong, with its line.
    package init(_ text: String, path: String) throws(HostFileError) {
        var hosts: [Host] = []
        var lines: [String: Int] = [:]
        for (index, line) in text.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }
        ).enumerated() {
            let number = index + 1
            let bare = line.prefix { $0 != "#" }
            let words = bare.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard let first = words.first else { continue }
            let host = try Self.host(
                String(first), words.dropFirst().map(String.init), path: path, line: number)
            if let earlier = lines[host.name] {
                throw .repeatedName(host.name, path: path, line: number, first: earlier)
            }
            lines[host.name] = number
            hosts.append(host)
            guard hosts.count <= Limits.workers else {
                throw .tooMany(path: path, limit: Limits.workers)
            }
        }
        guard !hosts.isEmpty else { throw .noHosts(path: path) }
        self.hosts = hosts
    }

    private static let keys = ["threads", "model", "skein", "name"]

    private static func host(
        _ destination: String, _ words: [String], path: String, line: Int
    ) throws(HostFileError) -> Host {
        // ssh would take a word that begins with a dash for an option.
        guard destination.first != "-", !destination.contains("="), !destination.hasSuffix("@"),
            destination.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7f })
        else { throw .badHost(destination, path: path, line: line) }
        var values: [String: String] = [:]
        for word in words {
            guard let equals = word.firstIndex(of: "=") else {
                throw .unknownKey(word, path: path, line: line, suggestion: nil)
            }
            let key = String(word[..<equals])
            guard keys.contains(key) else {
                throw .unknownKey(
                    key, path: path, line: line, suggestion: Words.nearest(to: key, among: keys))
            }
            guard values[key] == nil else { throw .repeatedKey(key, path: path, line: line) }
            values[key] = String(word[word.index(after: equals)...])
        }
        func value(
            _ key: String, _ accepted: String, _ isAccepted: (String) -> Bool
        ) throws(HostFileError) -> String? {
            guard let text = values[key], !isAccepted(text) else { return values[key] }
            throw .badValue(key: key, value: text, accepted: accepted, path: path, line: line)
        }
        values["name"] = values["name"] ?? defaultName(destination)
        func isPath(_ text: String) -> Bool { !text.isEmpty && !text.contains("\0") }
        let threads = try value("threads", "a whole number from 1 to 1024") {
            (1...1024).contains(Int($0) ?? 0)
        }
        return Host(
            destination: destination, threads: threads.flatMap { Int($0) },
            model: try value("model", "a path", isPath),
            skein: try value("skein", "a path", isPath) ?? "skein",
            // The coordinator's own worker has that name, and no other may have it.
            name: try value(
                "name", WorkerName.accepted + ", but not local",
                { WorkerName.isValid($0) && $0 != "local" })
                ?? defaultName(destination))
    }

    /// The host's name without user and scheme; a port follows after a dash.
    private static func defaultName(_ destination: String) -> String {
        var name = destination[...]
        if name.hasPrefix("ssh://") { name = name.dropFirst(6) }
        if let at = name.lastIndex(of: "@") { name = name[name.index(after: at)...] }
        return String(name.filter { $0 != "[" && $0 != "]" }.map { $0 == ":" ? "-" : $0 })
    }
}

/// A host file that cannot be used. Exit status 65.
package enum HostFileError: Error, Equatable {
    case noHosts(path: String)
    case tooMany(path: String, limit: Int)
    case badHost(String, path: String, line: Int)
    case unknownKey(String, path: String, line: Int, suggestion: String?)
    case repeatedKey(String, path: String, line: Int)
    case badValue(key: String, value: String, accepted: String, path: String, line: Int)
    /// `first` is the line that already has the name.
    case repeatedName(String, path: String, line: Int, first: Int)
}

extension HostFileError: Explained {
    package var explanation: Explanation {
        let (what, place, remedy) = sentences
        return Explanation(what: what, place: place, remedy: remedy, status: .badData)
    }

    private var sentences: (what: String, place: String, remedy: String) {
        switch self {
        case .noHosts(let path):
            ("the file has no hosts", path, "write a line for each, such as me@10.0.0.7")
        case .tooMany(let path, let limit):
            ("there are more than \(limit) hosts", path, "start the others by hand")
        case .badHost(let host, let path, let line):
            (
                "\"\(host)\" is not a host", "\(path):\(line)",
                "begin the line with user@host, then key=value"
            )
        case .unknownKey(let key, let path, let line, let suggestion):
            (
                "a host file has no key \"\(key)\"", "\(path):\(line)",
                suggestion.map { "did you mean \"\($0)=\"?" }
                    ?? "write threads=N, model=PATH, skein=PATH or name=S, without blanks"
            )
        case .repeatedKey(let key, let path, let line):
            ("\"\(key)\" is given twice", "\(path):\(line)", "remove one of them")
        case .badValue(let key, let value, let accepted, let path, let line):
            (
                "\(key)= takes \(accepted), not \"\(value)\"", "\(path):\(line)",
                "give it \(accepted)"
            )
        case .repeatedName(let name, let path, let line, let first):
            (
                "line \(first) already has the name \"\(name)\"", "\(path):\(line)",
                "add name=S with another name"
            )
        }
    }
}
