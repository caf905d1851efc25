import SkeinJSON

/// The members of a JSON object as texts, so that some can be changed and the others stay as they
/// are, in their order and spelling.
package struct JSONMembers {
    /// Keys as their bytes are in the text, without quotes.
    package private(set) var members: [(key: String, value: String)]

    /// nil for another value than an object.
    ///
    /// - Throws: `JSONFlaw`.
    package init?(_ text: String) throws {
        let members = try Array(text.utf8).withUnsafeBytes { bytes in
            func text(_ place: Range<Int>) -> String {
                String(decoding: bytes[place], as: UTF8.self)
            }
            return try JSONReader.members(of: bytes, JSONFile.rules)?.map {
                (key: text($0.name), value: text($0.value))
            }
        }
        guard let members else { return nil }
        self.members = members
    }

    package subscript(key: String) -> String? {
        members.first { $0.key == key }?.value
    }

    package mutating func remove(_ key: String) { members.removeAll { $0.key == key } }

    /// Replaces the member's value, or adds it at the end.
    package mutating func set(_ key: String, _ value: String) {
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].value = value
        } else {
            members.append((key, value))
        }
    }

    /// The object, a member on each line.
    ///
    /// - Parameter indent: spaces before the object's end.
    /// - Returns: JSON.
    package func text(indent: Int = 0) -> String {
        let space = String(repeating: " ", count: indent)
        let lines = members.map { "\(space)  \"\($0.key)\": \($0.value)" }
        return lines.isEmpty ? "{}" : "{\n" + lines.joined(separator: ",\n") + "\n\(space)}"
    }
}
