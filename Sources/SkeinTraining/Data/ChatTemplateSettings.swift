import SkeinBasics
import SkeinModels
import SkeinText

/// Which chat template renders conversations, and what it sees besides them.
package struct ChatTemplateSettings: Sendable, Equatable {
    /// The name of a built-in template or the path of a file (`--chat-template`); nil: the model's.
    package var template: String?
    /// Further variables (`--template-argument`), in the order of their names.
    package var arguments: [ChatMessage.Field]
    /// The day that the template sees as today (`--template-date`).
    package var date: TemplateDate

    package init(
        template: String? = nil, arguments: [ChatMessage.Field] = [],
        date: TemplateDate = .documentedFallback
    ) {
        self.template = template
        self.arguments = arguments
        self.date = date
    }

    /// The template's text and its name in errors; nil if the model has none.
    ///
    /// - Throws: `FileError`.
    package func source(for model: ModelDirectory) throws -> (text: String, name: String)? {
        guard let template else {
            return model.chatTemplate.map { ($0, "the chat template of \(model.path)") }
        }
        if let text = BuiltInTemplate.source(of: template) {
            return (text, "the built-in chat template \(template)")
        }
        let text = try MappedFile(path: template).withBytes { bytes in
            // One byte more than allowed is enough for the template's own error.
            String(decoding: bytes.prefix(BuiltInTemplate.fileBytes + 1), as: UTF8.self)
        }
        return (text, "the chat template \(template)")
    }
}

extension TrainingConfiguration {
    /// The chat template, as the options have it.
    package var chat: ChatTemplateSettings {
        ChatTemplateSettings(
            template: self.chatTemplate,
            arguments: self.templateArgument.flatMap { TemplateArgumentText.fields(of: $0) } ?? [],
            date: self.templateDate.flatMap { TemplateDate($0) } ?? .documentedFallback)
    }
}

/// Template arguments as the command line has them: `name=value`, several with commas between them,
/// or a JSON object.
enum TemplateArgumentText {
    /// nil if the text is neither. A value is JSON, or else a text.
    static func fields(of text: String) -> [ChatMessage.Field]? {
        if text.hasPrefix("{") {
            guard case .object(let fields)? = try? ChatJSON(parsing: text.utf8),
                fields.allSatisfy({ isName($0.name) })
            else { return nil }
            return fields
        }
        var fields: [ChatMessage.Field] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let border = part.firstIndex(of: "=") else { return nil }
            let name = String(part[..<border])
            let value = String(part[part.index(after: border)...])
            guard isName(name), !fields.contains(where: { $0.name == name }) else { return nil }
            fields.append(
                .init(name: name, value: (try? ChatJSON(parsing: value.utf8)) ?? .text(value)))
        }
        return fields
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.first, first == "_" || first.isLetter else { return false }
        return name.allSatisfy { $0.isASCII && ($0 == "_" || $0.isLetter || $0.isNumber) }
    }
}

extension TemplateDate {
    /// A day such as 2024-07-26.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isDay =
            parts.map(\.count) == [4, 2, 2]
            && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } }
        guard isDay, let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }
}
