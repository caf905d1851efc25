import SkeinBasics
import SkeinJSON

/// A parsed command line: every text in it is accepted by its option.
package struct ParsedArguments: Sendable {
    let table: ArgumentTable
    /// Accepted texts of the options that were given, by name.
    private let texts: [String: String]
    package let positionals: [String]
    /// What `--resume` took from the run's record.
    let record: RunRecord.Taken?
    /// The folder in which `--resume` found no run.
    let emptyOutput: String?

    init(
        table: ArgumentTable, texts: [String: String], positionals: [String],
        record: RunRecord.Taken? = nil, emptyOutput: String? = nil
    ) {
        self.table = table
        self.texts = texts
        self.positionals = positionals
        self.record = record
        self.emptyOutput = emptyOutput
    }

    /// The value that was given, or the option's default.
    package subscript<Value>(option: Option<Value>) -> Value {
        let name = option.description.name
        precondition(table.option(named: name) != nil, "\(table.command) has no --\(name)")
        if let text = texts[name], let value = option.format.read(text) { return value }
        guard let fallback = option.fallback else {
            preconditionFailure("--\(name) is required and was not checked")
        }
        return fallback
    }

    /// What was given of a table's options.
    func values<Table: OptionTable>() -> OptionValues<Table> {
        var values = OptionValues<Table>()
        for option in Table.options {
            guard let text = texts[option.description.name] else { continue }
            let isAccepted = values.set(option, to: text)
            precondition(isAccepted, "--\(option.description.name) was not checked")
        }
        return values
    }

    /// The same, with another text of an option.
    func replacing(option: String, by text: String) -> ParsedArguments {
        ParsedArguments(
            table: table, texts: texts.merging([option: text]) { $1 }, positionals: positionals,
            record: record, emptyOutput: emptyOutput)
    }

    /// The same, as if an option had not been given.
    func removing(option: String) -> ParsedArguments {
        ParsedArguments(
            table: table, texts: texts.filter { $0.key != option }, positionals: positionals,
            record: record, emptyOutput: emptyOutput)
    }

    /// The same, with other positional arguments.
    func replacing(positionals: [String]) -> ParsedArguments {
        ParsedArguments(table: table, texts: texts, positionals: positionals, record: record)
    }

    func isGiven(_ option: OptionDescription) -> Bool {
        texts[option.name] != nil
    }

    /// Whether an option has no value of its own: none was given, or `auto`.
    func isAutomatic(_ option: OptionDescription) -> Bool {
        texts[option.name].map(option.isAutomatic) ?? (option.rule != nil)
    }

    /// An option's text from the command line, else from the configuration file, else nil.
    func text(of option: OptionDescription) -> String? {
        texts[option.name]
    }

    /// The options that would be used, one per line in the table's order; `--config` reads it back.
    var configurationJSON: String {
        let shown = table.options.filter {
            !GeneralFlags.names.contains($0.name) && !$0.isRetired
        }
        let fields = shown.map { option in
            let usual = option.rule == nil ? option.fallback : OptionDescription.automatic
            let text = texts[option.name] ?? (option.isFlag ? "false" : usual)
            return (option.name, text.flatMap(option.json) ?? .null)
        }
        return JSONValue.fields(fields).lines()
    }
}
