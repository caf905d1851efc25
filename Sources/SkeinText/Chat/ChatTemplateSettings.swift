import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON

/// Which chat template renders conversations, and what it sees besides them.
package struct ChatTemplateSettings: Sendable, Equatable {
    /// The name of a built-in template or of one of the model's, or the path of a file
    /// (`--chat-template`); nil: the model's.
    package var template: String?
    /// Further variables (`--template-argument`), in the order of their names.
    package var arguments: [JSONField]
    /// The day that the template sees as today (`--template-date`); nil: 2024-07-26.
    package var date: TemplateDate?

    package init(
        template: String? = nil, arguments: [JSONField] = [], date: TemplateDate? = nil
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

    /// Refuses arguments that none of these templates mentions.
    ///
    /// - Throws: `ChatTemplateError.unusedArgument`.
    package func check(_ templates: [ChatTemplate]) throws(ChatTemplateError) {
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
    /// - Throws: `ChatTemplateError`, `ForeignFileError`, `FileError`.
    package func source(
        for model: ModelFiles, hasTools: Bool = false
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

    private static func text(ofFile path: String, for model: ModelFiles) throws -> String {
        do {
            return try MappedFile(path: path).withBytes { bytes in
                let foreign = ForeignFileError(path: path, bytes: bytes, use: .text)
                if let foreign, foreign.kind != .webPage { throw foreign }
                // One byte more than allowed is enough for the template's own error.
                return String(decoding: bytes.prefix(BuiltInTemplate.fileBytes + 1), as: UTF8.self)
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
