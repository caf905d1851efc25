import SkeinBasics
import SkeinFormats
import SkeinJSON

/// How the rows were written that an adapter of Skein was trained on, as its own record has it.
///
/// An adapter answers as it learned to if it sees the same text around what people say: the same
/// template, with the same arguments, or none.
package struct TrainedText: Sendable {
    private let recipe: [String: String]
    /// nil: the record leaves it to the model.
    private let promptFormat: String?
    private let templateDigest: String?

    /// nil for an adapter that does not say how it was trained.
    ///
    /// - Parameter origin: the adapter's.
    package init?(_ origin: AdapterOrigin?) {
        guard let origin, let recipe = origin.recipe else { return nil }
        self.recipe = recipe
        promptFormat = origin.promptFormat
        templateDigest = origin.chatTemplateSHA256
    }

    /// Options of a run, whose texts are in its record.
    package enum Option: String, CaseIterable, Sendable {
        case format = "prompt-format"
        case template = "chat-template"
        case arguments = "template-argument"
        case date = "template-date"
    }

    /// Says that an adapter sees other text here than it has learned.
    ///
    /// - Parameters:
    ///   - adapter: its path.
    ///   - origin: its record.
    ///   - settings: as `differences` has it.
    ///   - usesTemplate: as `differences` has it.
    ///   - model: the base model.
    /// - Returns: a sentence for each difference.
    /// - Throws: `ChatTemplateError`, `FileError`.
    package static func warnings(
        adapter: String, _ origin: AdapterOrigin?, from settings: ChatTemplateSettings,
        usesTemplate: Bool, model: ModelFiles
    ) throws -> [String] {
        try TrainedText(origin)?.differences(
            from: settings, usesTemplate: usesTemplate, model: model
        ).map { "the adapter \(adapter) sees other text here than it has learned: \($0)" } ?? []
    }

    /// In what the text of the training differs from the text that the model is given here.
    ///
    /// - Parameters:
    ///   - settings: of the conversations here.
    ///   - usesTemplate: whether text goes through a template here, if there is one.
    ///   - model: the base model.
    /// - Returns: a phrase for each difference; none if the texts are the same.
    /// - Throws: `ChatTemplateError`, `FileError`.
    package func differences(
        from settings: ChatTemplateSettings, usesTemplate: Bool, model: ModelFiles
    ) throws -> [String] {
        let given = recipe[Option.format.rawValue] ?? "auto"
        let hadTemplate = recipe[Option.template.rawValue] != nil || model.chatTemplate != nil
        let format = promptFormat ?? (given == "auto" ? (hadTemplate ? "chat" : "eos") : given)
        let source = try settings.source(for: model)
        let isChat = usesTemplate && source != nil
        guard format == "chat", isChat else {
            guard (format == "chat") != isChat else { return [] }
            return [
                isChat
                    ? "it was trained without a chat template (--prompt-format "
                        + "\(ForeignText.shown(format))), and is "
                        + "used with one"
                    : "it was trained with a chat template, and is used without one"
            ]
        }
        var differences: [String] = []
        func compare(_ option: Option, _ isSame: Bool, _ here: String?) {
            guard !isSame else { return }
            let then = recipe[option.rawValue].map {
                "with --\(option.rawValue) \(ForeignText.shown($0))"
            }
            let now = here.map { "with \($0)" }
            differences.append(
                "it was trained \(then ?? "without --\(option.rawValue)"), and is used "
                    + (now ?? "without"))
        }
        let isSame = isSame(source?.text, settings.template, model)
        if !isSame, recipe[Option.template.rawValue] == nil, settings.template == nil {
            differences.append("it was trained with another chat template than this model's own")
        } else {
            compare(.template, isSame, settings.template)
        }
        let arguments = recipe[Option.arguments.rawValue].flatMap {
            TemplateArgumentText.fields(of: $0, isRecorded: true)
        }
        compare(
            .arguments, Self.sorted(arguments ?? []) == Self.sorted(settings.arguments),
            settings.arguments.isEmpty ? nil : JSONValue.object(settings.arguments).written)
        let date = recipe[Option.date.rawValue].flatMap { TemplateDate($0) } ?? .documentedFallback
        compare(.date, date == settings.today, settings.date.map { _ in "another day" })
        return differences
    }

    /// Whether the template here is that of the training.
    private func isSame(_ source: String?, _ name: String?, _ model: ModelFiles) -> Bool {
        if let templateDigest {
            return source.map { SHA256.digest(of: $0).description } == templateDigest
        }
        guard let trained = recipe[Option.template.rawValue] else {
            // The model's own, whatever it is called here.
            return name == nil || source.map { $0.isSame(as: model.chatTemplate ?? "") } ?? true
        }
        return name.map { FilePath.name(of: $0) } == trained
    }

    private static func sorted(_ fields: [JSONField]) -> [JSONField] {
        fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
