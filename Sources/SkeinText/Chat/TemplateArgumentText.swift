import SkeinBasics
import SkeinJSON

/// Template arguments as the command line has them: `name=value`, several with commas between them,
/// or a JSON object.
package enum TemplateArgumentText {
    /// A value is JSON, or else a text.
    ///
    /// - Parameters:
    ///   - text: as given.
    ///   - isRecorded: whether it is from a record. Older versions took Python's True, False and None as texts.
    /// - Returns: nil if the text is neither.
    package static func fields(of text: String, isRecorded: Bool = false) -> [JSONField]? {
        if text.hasPrefix("{") {
            // The caller says what was expected and shows the text.
            guard case .object(let fields)? = try? JSONValue(parsing: text.utf8),
                fields.allSatisfy({ isName($0.name) })
            else { return nil }
            return fields
        }
        var fields: [JSONField] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let border = part.firstIndex(of: "=") else { return nil }
            let name = String(part[..<border])
            let value = String(part[part.index(after: border)...])
            guard isName(name), !fields.contains(where: { $0.name == name }) else { return nil }
            // What is no JSON is a text.
            let read = try? JSONValue(parsing: value.utf8)
            guard read != nil || isRecorded || !isMisspelled(value) else { return nil }
            fields.append(.init(name: name, value: read ?? .text(value)))
        }
        return fields
    }

    /// Whether a value without quotes is meant as Python's True, False or None. It would be a text, and
    /// true in conditions.
    private static func isMisspelled(_ value: String) -> Bool {
        ["true", "false"].contains(value.lowercased()) || value == "None"
    }

    /// Two accepted texts as one that has the arguments of both.
    package static func joined(_ first: String, _ second: String) throws(JoinProblem) -> String {
        let (before, after) = (fields(of: first) ?? [], fields(of: second) ?? [])
        guard Set(before.map(\.name)).isDisjoint(with: after.map(\.name)) else {
            throw .repeatedName
        }
        if !first.hasPrefix("{"), !second.hasPrefix("{") { return first + "," + second }
        let all = before + after
        // A value that is as deep as one may be would be too deep in an object.
        if let lost = all.first(where: { fields(of: object([$0])) != [$0] }) {
            throw .notRepeatable(name: lost.name)
        }
        return object(all)
    }

    private static func object(_ fields: [JSONField]) -> String {
        JSONValue.object(fields).written
    }

    /// Variables that the conversation sets.
    package static let reserved = ["messages", "add_generation_prompt"]

    private static func isName(_ name: String) -> Bool {
        guard let first = name.first, first == "_" || first.isLetter, !reserved.contains(name)
        else { return false }
        return name.allSatisfy { $0.isASCII && ($0 == "_" || $0.isLetter || $0.isNumber) }
    }
}

extension TemplateDate {
    /// A day such as 2024-07-26.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isDay =
            parts.map(\.count) == [4, 2, 2]
            && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } }
        guard isDay, let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }
}
