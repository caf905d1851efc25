import SkeinBasics
import SkeinText
import SkeinTraining

/// How a conversation becomes text, in every command that has conversations: the options of `train`.
enum ChatFlags {
    static let options = [template.description, argument.description, date.description]
    static let group = OptionGroup(title: "chat template", options: options)

    fileprivate static let template = RecipeOptions.table.chatTemplate
    fileprivate static let argument = RecipeOptions.table.templateArgument
    fileprivate static let date = RecipeOptions.table.templateDate
}

extension ParsedArguments {
    var chat: ChatTemplateSettings {
        ChatTemplateSettings(
            template: self[ChatFlags.template], arguments: self[ChatFlags.argument],
            date: self[ChatFlags.date])
    }

    /// The first of the options of `ChatFlags` that was given.
    var givenChatOption: String? { ChatFlags.options.first(where: isGiven)?.name }
}
