import SkeinBasics

/// A model by its name on the Hub: `ORG/NAME[@revision][:file.gguf]`.
package struct HubReference: Sendable, Equatable, Codable {
    package var organization: String
    package var name: String
    /// A branch, tag or commit; `main` unless it was given.
    package var revision: String
    /// A file of the repository; nil: a folder with all that the model needs.
    package var file: String?

    package init(
        organization: String, name: String, revision: String = "main", file: String? = nil
    ) {
        self.organization = organization
        self.name = name
        self.revision = revision
        self.file = file
    }

    /// Reads a reference; nil when `text` is none, such as a path.
    package init?(_ text: String) {
        var rest = Substring(text)
        var file: String?
        if let colon = rest.firstIndex(of: ":") {
            let named = String(rest[rest.index(after: colon)...])
            guard HubNames.isFilePath(named) else { return nil }
            file = named
            rest = rest[..<colon]
        }
        var revision = "main"
        if let at = rest.firstIndex(of: "@") {
            revision = String(rest[rest.index(after: at)...])
            guard HubNames.isRevision(revision) else { return nil }
            rest = rest[..<at]
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // `models/tiny.gguf` means a file that is missing, not a repository of that name.
        guard parts.count == 2, parts.allSatisfy(HubNames.isName), !parts[1].hasSuffix(".gguf")
        else { return nil }
        self.init(organization: parts[0], name: parts[1], revision: revision, file: file)
    }

    /// `ORG/NAME`.
    package var repository: String { organization + "/" + name }

    /// As it is typed.
    package var text: String {
        repository + (revision == "main" ? "" : "@" + revision) + (file.map { ":" + $0 } ?? "")
    }
}

/// What names may be: nothing that a user or a server says leads out of the cache.
package enum HubNames {
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.".utf8.contains(byte)
        }
    }

    /// The Hub's own rule: letters, digits, `-`, `_` and `.`, neither `--` nor `..`, and neither `-`
    /// nor `.` at an end.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last else { return false }
        return text.utf8.count <= Limits.nameBytes && text.utf8.allSatisfy(isPlain)
            && !"-.".utf8.contains(first) && !"-.".utf8.contains(last)
            && !text.contains("--") && !text.contains("..")
    }

    /// A branch, tag or commit: parts of letters, digits, `-`, `_`, `.` and `+`, separated by `/`.
    package static func isRevision(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count <= Limits.revisionBytes
            && parts.allSatisfy { part in
                !part.isEmpty && !part.hasPrefix(".") && !part.contains("..")
                    && part.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "+") }
            }
    }

    /// 40 lower-case hexadecimal digits.
    package static func isCommit(_ text: String) -> Bool { isHexadecimal(text, 40) }

    /// A file's SHA-256, or git's SHA-1 of it. It becomes a file's name in the cache.
    package static func isDigest(_ text: String) -> Bool {
        isHexadecimal(text, 40) || isHexadecimal(text, 64)
    }

    private static func isHexadecimal(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    /// A relative path of visible characters, without `.`, `..`, empty parts and backslashes.
    package static func isFilePath(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count <= Limits.filePathBytes
            && text.unicodeScalars.allSatisfy { $0.isVisible && $0 != "\\" }
            && parts.allSatisfy { part in
                !part.isEmpty && part != "." && part != ".."
                    && part.utf8.count <= Limits.filePartBytes
            }
    }
}
