import SkeinJSON

/// One option: its name, what it takes, its default, and what it does. Flags, help, configuration
/// files, run.json, digests and the library read this declaration.
///
/// The type of the value is part of the option, so that `arguments[GenerateCommand.topK]` is an `Int`
/// and a misspelt name does not compile.
package struct Option<Value: Sendable>: Sendable {
    package private(set) var description: OptionDescription
    package let format: ValueFormat<Value>
    /// The value when it is not given; nil when it must be given.
    package let fallback: Value?

    /// An option with a default, written as it would be typed.
    ///
    /// - Parameters:
    ///   - name: without the two dashes.
    ///   - format: what it takes.
    ///   - text: the default.
    ///   - heading: under which help shows it, where an `OptionTable` declares it.
    ///   - help: what it does.
    package init(
        _ name: String, _ format: ValueFormat<Value>, default text: String,
        in heading: OptionHeading? = nil, _ help: String
    ) {
        guard let value = format.read(text) else {
            preconditionFailure("the default of --\(name) is not accepted by its own format")
        }
        description = OptionDescription(
            name, format, heading: heading, help: help, fallback: text)
        self.format = format
        fallback = value
    }

    /// An option that must be given.
    package static func required(
        _ name: String, _ format: ValueFormat<Value>, _ help: String
    ) -> Option {
        Option(
            description: OptionDescription(name, format, help: help, isRequired: true),
            format: format, fallback: nil)
    }

    /// An option without which something else happens, in the words of `absent`.
    package static func optional<Base>(
        _ name: String, _ format: ValueFormat<Base>, absent: String? = nil,
        in heading: OptionHeading? = nil, _ help: String
    ) -> Option where Value == Base? {
        Option(
            description: OptionDescription(
                name, format.optional, heading: heading, help: help, absent: absent),
            format: format.optional, fallback: .some(nil))
    }

    /// An option that is accepted and ignored: help does not name it, and command lines that have it
    /// go on working.
    package static func retired(
        _ name: String, _ format: ValueFormat<Value>, default text: String
    ) -> Option {
        var option = Option(name, format, default: text, "")
        option.description.isRetired = true
        return option
    }

    /// The same option in a command for which help says something else.
    package func described(absent: String? = nil, _ help: String) -> Option {
        var option = self
        option.description.help = help
        option.description.absent = absent ?? description.absent
        return option
    }

    /// Newer than run.json, offers and digests: they name it only where it is given, so that
    /// versions without it read them and digests stay what they were.
    package func namedOnlyWhenGiven() -> Option {
        var option = self
        option.description.isNamedOnlyWhenGiven = true
        return option
    }

    /// What it is without a value, or with `auto`, follows from the run itself, by `rule`. The default
    /// counts only where nothing decides, as in the settings of a benchmark.
    package func automatic(by rule: String) -> Option {
        var option = self
        option.description.rule = rule
        option.description.accepted += ", or \(OptionDescription.automatic)"
        return option
    }

    /// May be given several times: `join` makes one accepted text of two.
    package func repeatable(_ join: @escaping OptionDescription.Join) -> Option {
        var option = self
        option.description.join = join
        return option
    }

    /// A list in a configuration file is given to it as JSON; lists for others get commas.
    package func takingJSONLists() -> Option {
        var option = self
        option.description.takesJSONLists = true
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
    package static func flag(
        _ name: String, in heading: OptionHeading? = nil, _ help: String
    ) -> Option {
        Option(
            description: OptionDescription(
                name, .presence, heading: heading, help: help, isFlag: true),
            format: .presence, fallback: false)
    }
}

extension Option where Value == Bool? {
    /// A flag that is newer than run.json and offers, which name it only where it is given.
    package static func laterFlag(
        _ name: String, in heading: OptionHeading? = nil, _ help: String
    ) -> Option {
        let format = ValueFormat<Bool>.presence.optional
        return Option(
            description: OptionDescription(
                name, format, heading: heading, help: help, isFlag: true),
            format: format, fallback: .some(nil)
        ).namedOnlyWhenGiven()
    }

    /// A switch that is newer than run.json and offers: its name alone turns it on, and `on` or `off`
    /// may follow.
    ///
    /// - Parameters:
    ///   - name: without the two dashes.
    ///   - absent: what happens without it, in words.
    ///   - heading: under which help shows it.
    ///   - help: what it does.
    /// - Returns: the option, nil when it is not given.
    package static func laterSwitch(
        _ name: String, absent: String, in heading: OptionHeading? = nil, _ help: String
    ) -> Option {
        var option = Option.optional(
            name, ValueFormat<Bool>.onOff, absent: absent, in: heading, help
        ).namedOnlyWhenGiven()
        option.description.bare = "on"
        return option
    }
}

extension Option where Value == Int? {
    /// Threads that compute, wherever a machine's are used.
    package static func threads(in heading: OptionHeading? = nil) -> Option {
        optional(
            "threads", .integer(SystemProcessors.threads),
            absent: "all cores that may be used", in: heading,
            "compute threads; they do not change the result")
    }
}

/// The heading under which help lists options.
package struct OptionHeading: Sendable, Equatable {
    package let title: String

    package init(_ title: String) {
        self.title = title
    }
}

/// Why two values of one option cannot be made one.
package enum JoinProblem: Error, Equatable {
    /// Both name the same thing.
    case repeatedName
    /// What is named `name` would change when it is written again.
    case notRepeatable(name: String)
    /// More than an option may hold.
    case tooMany(most: Int)
}

/// What the parser, the help text and `--print-config` know of an option, whatever its type.
package struct OptionDescription: Sendable {
    /// Without the two dashes.
    package let name: String
    package let placeholder: String
    package fileprivate(set) var accepted: String
    package let choices: [String]
    /// Whether its value is the name of a file or folder.
    package let isPath: Bool
    package let heading: OptionHeading?
    package fileprivate(set) var help: String
    /// Its default, as it would be typed.
    package let fallback: String?
    /// What happens without it, in words, where there is no default.
    package fileprivate(set) var absent: String?
    /// What decides it without a value or with `auto`, in words; nil: its default is a value.
    package fileprivate(set) var rule: String?
    package let isRequired: Bool
    package let isFlag: Bool
    /// What its name alone means on a command line, where the value may be left out.
    package fileprivate(set) var bare: String?
    /// It is ignored.
    package fileprivate(set) var isRetired = false
    package fileprivate(set) var isNamedOnlyWhenGiven = false
    fileprivate var takesJSONLists = false
    package typealias Join = @Sendable (String, String) throws(JoinProblem) -> String
    /// Makes one text of those of two occurrences; nil for an option of which the last one counts.
    package fileprivate(set) var join: Join?
    private let value: @Sendable (String) -> JSONValue?

    /// The value that is decided by a rule.
    package static let automatic = "auto"

    /// Whether a text leaves the value to the option's rule.
    package func isAutomatic(_ text: String) -> Bool { rule != nil && text == Self.automatic }

    /// The value of a text as JSON, or nil when the text is not accepted.
    package func json(_ text: String) -> JSONValue? {
        isAutomatic(text) ? .text(Self.automatic) : value(text)
    }

    init<Value>(
        _ name: String, _ format: ValueFormat<Value>, heading: OptionHeading? = nil, help: String,
        fallback: String? = nil, absent: String? = nil, isRequired: Bool = false,
        isFlag: Bool = false
    ) {
        self.name = name
        placeholder = format.placeholder
        accepted = format.accepted
        choices = format.choices
        isPath = format.isPath
        self.heading = heading
        self.help = help
        self.fallback = fallback
        self.absent = absent
        self.isRequired = isRequired
        self.isFlag = isFlag
        value = { text in format.read(text).map(format.json) }
    }

    /// A value of a JSON file as it would be typed; nil for null and for what no option is.
    package func text(of value: JSONValue) -> String? {
        guard let text = value.optionText else { return nil }
        return takesJSONLists && value.list != nil ? value.written : text
    }

    /// What it takes instead of a text that it refuses, and the nearest of its words; nil if it takes
    /// the text.
    package func refusal(of text: String) -> (accepted: String, suggestion: String?)? {
        json(text) == nil ? (accepted, Words.nearest(to: text, among: choices)) : nil
    }

    /// The name that a key of a configuration file stands for: `batchSize` is `batch-size`.
    package static func name(of key: String) -> String {
        key.reduce(into: "") { name, letter in
            if letter.isASCII, letter.isUppercase {
                name += "-" + letter.lowercased()
            } else {
                name.append(letter)
            }
        }
    }
}
