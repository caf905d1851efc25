import Foundation
import SkeinBasics
import SkeinModels
import SkeinText

/// Which chat template renders conversations, and what it sees besides them.
package struct ChatTemplateSettings: Sendable, Equatable {
    /// The name of a built-in template or of one of the model's, or the path of a file
    /// (`--chat-template`); nil: the model's.
    package var template: String?
    /// Further variables (`--template-argument`), in the order of their names.
    package var arguments: [ChatMessage.Field]
    /// The day that the template sees as today (`--template-date`); nil: 2024-07-26.
    package var date: TemplateDate?

    package init(
        template: String? = nil, arguments: [ChatMessage.Field] = [], date: TemplateDate? = nil
    ) {
        self.template = template
        self.arguments = arguments
        self.date = date
    }

    /// The settings as options have them.
    ///
    /// - Parameters:
    ///   - template: of `--chat-template`.
    ///   - arguments: of `--template-argument`.
    ///   - date: of `--template-date`.
    package init(template: String?, arguments: String?, date: String?) {
        self.init(
            template: template,
            arguments: arguments.flatMap { TemplateArgumentText.fields(of: $0) } ?? [],
            date: date.flatMap { TemplateDate($0) })
    }

    /// Refuses settings for rows that no template renders: nothing would show that they were ignored.
    ///
    /// - Throws: `ChatTemplateError.withoutTemplate`.
    package func check(for format: PromptFormat) throws(ChatTemplateError) {
        guard [.eos, .raw].contains(format) else { return }
        let given = [
            ("chat-template", template != nil), ("template-argument", !arguments.isEmpty),
            ("template-date", date != nil),
        ]
        for (option, isGiven) in given where isGiven {
            throw .withoutTemplate(option: option, format: format)
        }
    }

    /// Refuses arguments that none of these templates mentions.
    ///
    /// - Throws: `ChatTemplateError.unusedArgument`.
    func check(_ templates: [ChatTemplate]) throws(ChatTemplateError) {
        guard let first = templates.first else { return }
        let known = templates.reduce(into: Set<String>()) { $0.formUnion($1.names) }
        for argument in arguments where !known.contains(argument.name) {
            throw .unusedArgument(
                name: argument.name, known: known.sorted(), template: first.name)
        }
    }

    /// The day that the template sees.
    package var today: TemplateDate { date ?? .documentedFallback }

    /// The chosen template.
    ///
    /// - Parameters:
    ///   - model: of which the template is, unless another one is chosen.
    ///   - hasTools: whether the conversation has tools, for which some models have a template
    ///     "tool_use".
    /// - Returns: its text and its name in errors; nil if the model has none.
    /// - Throws: `ChatTemplateError`, `FileError`.
    package func source(
        for model: ModelDirectory, hasTools: Bool = false
    ) throws -> (text: String, name: String)? {
        guard let template else {
            if hasTools, let text = model.namedChatTemplates["tool_use"] {
                return (text, "the chat template tool_use of \(model.path)")
            }
            if let text = model.chatTemplate {
                return (text, "the chat template of \(model.path)")
            }
            // Nothing would show that they were ignored.
            if let option = !arguments.isEmpty
                ? "template-argument" : date.map({ _ in "template-date" })
            {
                throw ChatTemplateError.noTemplate(option: option, model: model.path)
            }
            return nil
        }
        if let text = BuiltInTemplate.source(of: template) {
            return (text, "the built-in chat template \(template)")
        }
        if let text = model.namedChatTemplates[template] {
            return (text, "the chat template \(template) of \(model.path)")
        }
        if template == "default", let text = model.chatTemplate {
            return (text, "the chat template of \(model.path)")
        }
        return (try Self.text(ofFile: template, for: model), "the chat template \(template)")
    }

    private static func text(ofFile path: String, for model: ModelDirectory) throws -> String {
        do {
            return try MappedFile(path: path).withBytes { bytes in
                // One byte more than allowed is enough for the template's own error.
                String(decoding: bytes.prefix(BuiltInTemplate.fileBytes + 1), as: UTF8.self)
            }
        } catch FileError.failed(_, _, ENOENT) where !path.contains("/") {
            // What has a directory was meant as a path.
            let own = Set(model.namedChatTemplates.keys)
                .union(model.chatTemplate == nil ? [] : ["default"])
            throw ChatTemplateError.unknown(
                name: path, builtIn: BuiltInTemplate.names, own: own.sorted(), model: model.path)
        }
    }
}

extension TrainingConfiguration {
    /// The chat template, as the options have it.
    package var chat: ChatTemplateSettings {
        ChatTemplateSettings(
            template: self.chatTemplate, arguments: self.templateArgument, date: self.templateDate)
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

    /// Two accepted texts as one that has the arguments of both.
    static func joined(_ first: String, _ second: String) throws(JoinProblem) -> String {
        let (before, after) = (fields(of: first) ?? [], fields(of: second) ?? [])
        guard Set(before.map(\.name)).isDisjoint(with: after.map(\.name)) else {
            throw .repeatedName
        }
        if !first.hasPrefix("{"), !second.hasPrefix("{") { return first + "," + second }
        let all = before + after
        // A number such as 2.0 or 1e999 would be another one.
        if let lost = all.first(where: { fields(of: object([$0])) != [$0] }) {
            throw .notRepeatable(name: lost.name)
        }
        return object(all)
    }

    private static func object(_ fields: [ChatMessage.Field]) -> String {
        JSONLine.render(.object(fields.map { ($0.name, $0.value.line) }))
    }

    /// Variables that the conversation sets.
    static let reserved = ["messages", "add_generation_prompt"]

    private static func isName(_ name: String) -> Bool {
        guard let first = name.first, first == "_" || first.isLetter, !reserved.contains(name)
        else { return false }
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

extension ChatJSON {
    /// The value as Skein writes JSON.
    fileprivate var line: JSONLine.Value {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .text(let text): .string(text)
        case .list(let items): .array(items.map(\.line))
        case .object(let fields): .object(fields.map { ($0.name, $0.value.line) })
        }
    }
}
