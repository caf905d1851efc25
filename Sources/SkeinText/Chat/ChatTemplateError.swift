import SkeinBasics

/// Chat template options that do not fit the model.
package enum ChatTemplateError: Error, Equatable {
    /// `name` is neither a file, nor a name among the `builtIn` ones or the `model`'s `own`.
    case unknown(name: String, builtIn: [String], own: [String], model: String)
    /// The option `option`, without dashes, is for a template, and the model has none.
    case noTemplate(option: String, model: String)
    /// The option `option` is for a template, and rows in this format have none.
    case withoutTemplate(option: String, format: String)
    /// No template mentions the variable `name`.
    case unusedArgument(name: String, known: [String], template: String)
}

extension ChatTemplateError: Explained {
    package var explanation: Explanation {
        switch self {
        case .unknown(let name, let builtIn, let own, let model):
            let meant = Words.nearest(to: name, among: builtIn + own)
            let others =
                own.isEmpty ? "" : "; \(model) has \(own.joined(separator: ", ")) besides"
            return Explanation(
                what: "\"\(name)\" is neither a file nor the name of a chat template",
                place: "--chat-template",
                remedy: (meant.map { "did you mean \($0)? " } ?? "check the path, or give a name. ")
                    + "The built-in names are \(builtIn.joined(separator: ", "))" + others,
                status: .usage)
        case .noTemplate(let option, let model):
            return Explanation(
                what: "--\(option) is for a chat template, and the model has none", place: model,
                remedy: "leave out --\(option), or choose a template with --chat-template "
                    + "NAME|FILE",
                status: .usage)
        case .withoutTemplate(let option, let format):
            return Explanation(
                what: "--\(option) is for a chat template, and --prompt-format \(format) "
                    + "has none", place: "--\(option)",
                remedy: "leave out one of the two", status: .usage)
        case .unusedArgument(let name, let known, let template):
            return Explanation(
                what: "\(template) has no variable \(name)", place: "--template-argument",
                remedy: Words.nearest(to: name, among: known).map { "did you mean \($0)?" }
                    ?? "leave it out, or choose a template that has it with --chat-template",
                status: .usage)
        }
    }
}
