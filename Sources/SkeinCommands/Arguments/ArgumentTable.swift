import SkeinBasics

/// The arguments of a command: parser, help and `--print-config` read nothing else.
package struct ArgumentTable: Sendable {
    package let command: String
    /// What the command does, beginning with a verb in the third person.
    let summary: String
    let positional: Positional?
    let groups: [OptionGroup]
    /// A command line that works if its files exist; a test parses it.
    let example: String
    /// The options that matter first, which the short help shows; empty: it shows all.
    let first: [String]

    /// As many as a person reads through.
    static let mostFirst = 15

    package init(
        command: String, summary: String, positional: Positional? = nil, groups: [OptionGroup],
        example: String, first: [String] = []
    ) {
        self.command = command
        self.summary = summary
        self.positional = positional
        self.groups = groups + [GeneralFlags.group]
        self.example = example
        self.first = first
        let names = self.groups.flatMap(\.options).map(\.name)
        precondition(
            first.count <= Self.mostFirst && Set(first).isSubset(of: names),
            "\(command) shows what it has not, or too much")
        precondition(Set(names).count == names.count, "\(command) declares an option twice")
    }

    var options: [OptionDescription] { groups.flatMap(\.options) }

    /// Whether the short help shows an option.
    func isFirst(_ option: OptionDescription) -> Bool {
        first.isEmpty || first.contains(option.name)
            || option.name == GeneralFlags.help.description.name
    }

    func option(named name: String) -> OptionDescription? {
        options.first { $0.name == name }
    }
}

/// Options that help shows under one heading.
package struct OptionGroup: Sendable {
    let title: String
    let options: [OptionDescription]

    package init(title: String, options: [OptionDescription]) {
        self.title = title
        self.options = options
    }
}

/// Arguments that need no option name.
package struct Positional: Sendable {
    package enum Count: Sendable { case optional, one, oneOrMore }

    let placeholder: String
    let help: String
    let count: Count
    /// The words that are accepted; empty: any.
    let choices: [String]
    /// Words for scripts, which are accepted, too, and not shown.
    let hidden: [String]
    /// Whether it is the name of a file or folder, which a shell can complete.
    let isPath: Bool

    package init(
        _ placeholder: String, count: Count, choices: [String] = [], hidden: [String] = [],
        isPath: Bool = false, _ help: String
    ) {
        self.placeholder = placeholder
        self.count = count
        self.choices = choices
        self.hidden = hidden
        self.isPath = isPath
        self.help = help
    }
}

/// The options of every command.
enum GeneralFlags {
    static let config = Option.optional(
        "config", .path("FILE"),
        "JSON object with any of these options, or a run's run.json; the command line overrides it")
    static let printConfig = Option.flag(
        "print-config", "print the options that would be used, as JSON, and exit")
    static let help = Option.flag("help", "print this text; --help all: with every option")

    static let group = OptionGroup(
        title: "general",
        options: [config.description, printConfig.description, help.description])

    /// Names that a configuration file cannot set.
    static let names: Set<String> = Set(group.options.map(\.name))
}
