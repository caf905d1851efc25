import SkeinBasics

/// One option of a command: its name, what it takes, what holds without it, and what it does.
///
/// The type of the value is part of the option, so that `arguments[TrainingFlags.rank]` is an `Int`
/// and a misspelt name does not compile.
struct Option<Value: Sendable>: Sendable {
    private(set) var description: OptionDescription
    let format: ValueFormat<Value>
    /// The value when it is not given; nil when it must be given.
    let fallback: Value?

    /// An option with a default, written as it would be typed.
    init(_ name: String, _ format: ValueFormat<Value>, default text: String, _ help: String) {
        guard let value = format.read(text) else {
            preconditionFailure("the default of --\(name) is not accepted by its own format")
        }
        description = OptionDescription(name, format, help: help, fallback: text)
        self.format = format
        fallback = value
    }

    /// An option that must be given.
    static func required(
        _ name: String, _ format: ValueFormat<Value>, _ help: String
    ) -> Option {
        Option(
            description: OptionDescription(name, format, help: help, isRequired: true),
            format: format, fallback: nil)
    }

    /// An option without which something else happens, in the words of `absent`.
    static func optional<Base>(
        _ name: String, _ format: ValueFormat<Base>, absent: String? = nil, _ help: String
    ) -> Option where Value == Base? {
        Option(
            description: OptionDescription(name, format.optional, help: help, fallback: absent),
            format: format.optional, fallback: .some(nil))
    }

    /// An option that is read and has no effect any more: help does not name it, and command lines
    /// that have it go on working.
    static func retired(
        _ name: String, _ format: ValueFormat<Value>, default text: String
    ) -> Option {
        var option = Option(name, format, default: text, "")
        option.description.isRetired = true
        return option
    }

    private init(description: OptionDescription, format: ValueFormat<Value>, fallback: Value?) {
        self.description = description
        self.format = format
        self.fallback = fallback
    }
}

extension Option where Value == Bool {
    /// An option that takes no value: given or not.
    static func flag(_ name: String, _ help: String) -> Option {
        Option(
            description: OptionDescription(name, .presence, help: help, isFlag: true),
            format: .presence, fallback: false)
    }
}

/// What the parser, the help text and `--print-config` know of an option, whatever its type.
struct OptionDescription: Sendable {
    /// Without the two dashes.
    let name: String
    let placeholder: String
    let accepted: String
    let choices: [String]
    let help: String
    /// What holds without it, as help prints it.
    let fallback: String?
    let isRequired: Bool
    let isFlag: Bool
    /// It has no effect any more.
    var isRetired = false
    /// The value of a text as JSON, or nil when the text is not accepted.
    let json: @Sendable (String) -> JSONLine.Value?

    init<Value>(
        _ name: String, _ format: ValueFormat<Value>, help: String, fallback: String? = nil,
        isRequired: Bool = false, isFlag: Bool = false
    ) {
        self.name = name
        placeholder = format.placeholder
        accepted = format.accepted
        choices = format.choices
        self.help = help
        self.fallback = fallback
        self.isRequired = isRequired
        self.isFlag = isFlag
        json = { text in format.read(text).map(format.json) }
    }
}
