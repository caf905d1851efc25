import SkeinBasics
import SkeinTraining

/// Parses a command line by its table. Pure, except that it reads the file of `--config`, and for
/// `--resume` the run's record.
///
/// Takes `--name value` and `--name=value`. `--` ends the options, a lone `-` is a positional
/// argument, and if an option is repeated, the last one counts unless the option joins them.
struct ArgumentParser {
    private let table: ArgumentTable
    private var record: RunRecord.Taken?
    /// The record of the run that `--extend` names.
    private var part: RunRecord.Taken?
    private var texts: [String: String] = [:]
    private var positionals: [String] = []
    /// The option that the word before had the value of.
    private var last: (option: OptionDescription, value: String)?

    private init(table: ArgumentTable) {
        self.table = table
    }

    /// The checked arguments.
    ///
    /// - Throws: `UsageError`; `FileError` when the file of `--config` cannot be read.
    static func parse(_ words: [String], by table: ArgumentTable) throws -> ParsedArguments {
        var parser = ArgumentParser(table: table)
        if let page = parser.wantedHelp(words) {
            return ParsedArguments(
                table: table, texts: [GeneralFlags.help.description.name: "true"],
                positionals: page == .whole ? [wholeHelp] : [])
        }
        try parser.read(words)
        if let path = parser.texts[GeneralFlags.config.description.name] {
            let file = try ConfigurationFile(path: path, table: table)
            let ratio = RecipeOptions.table.warmupRatio.description.name
            let steps = RecipeOptions.table.warmupSteps.description.name
            // The two exclude each other, and a run's record has steps: what is typed counts.
            let typed = Set(parser.texts.keys)
            parser.texts.merge(
                file.texts.filter { name, _ in
                    !(name == steps && typed.contains(ratio))
                        && !(name == ratio && typed.contains(steps))
                }
            ) { typed, _ in typed }
        }
        try parser.takeRecord()
        try parser.takeRecipe()
        try parser.takeFirstPart()
        let arguments = ParsedArguments(
            table: table, texts: parser.texts, positionals: parser.positionals,
            record: parser.record ?? parser.part, emptyOutput: parser.emptyOutput)
        // --print-config shows incomplete configurations, too.
        if !arguments[GeneralFlags.printConfig] { try parser.checkPresence() }
        return arguments
    }

    /// Whether the run's record says what is not given.
    private var resumes: Bool {
        RunRecord.isTaken(by: table)
            && texts[TrainingFlags.resume.description.name].flatMap(
                TrainingFlags.resume.format.read)
                == true
    }

    private var output: String? { texts[TrainingFlags.output.description.name] }

    /// With `--resume`, what is not given is as the run has it.
    private mutating func takeRecord() throws {
        guard resumes, let output else { return }
        try RunDirectory.checkKind(of: output)
        guard let taken = try RunRecord.Taken(of: output, besides: texts, by: table)
        else { return }
        texts.merge(taken.texts) { typed, _ in typed }
        record = taken
    }

    /// With `--recipe`, what is not given is as the recipe has it. A run that goes on has its own.
    private mutating func takeRecipe() throws {
        let option = TrainingFlags.recipe
        guard table.option(named: option.description.name) != nil,
            let recipe = texts[option.description.name].flatMap(option.format.read) ?? nil
        else { return }
        guard record == nil else {
            record?.unused = "--\(option.description.name) \(recipe.rawValue)"
            return
        }
        if texts[TrainingFlags.extend.description.name] != nil {
            throw UsageError.excludes(
                option: TrainingFlags.extend.description.name, other: option.description.name,
                command: table.command)
        }
        let options = RecipeOptions.table
        var left: [String] = []
        if texts[options.warmupRatio.description.name] != nil {
            left.append(options.warmupSteps.description.name)
        }
        // An adapter to start from has its own shape.
        if texts[InputOptions.table.initAdapter.description.name] != nil {
            left += TrainingConfiguration.AdapterOption.allCases.map(\.rawValue)
        }
        let split = texts[options.validationSplit.description.name]
        if split.flatMap(options.validationSplit.format.read) == 0,
            texts[InputOptions.table.validData.description.name] == nil
        {
            left += NamedRecipe.ofValidation
        }
        texts.merge(recipe.texts.filter { !left.contains($0.key) }) { given, _ in given }
    }

    /// With `--extend`, what is not given is as that run has it, but for what makes a second part of it.
    /// That goes on with its own record, and the first one's adapter must be the same.
    private mutating func takeFirstPart() throws {
        guard let run = texts.removeValue(forKey: TrainingFlags.extend.description.name) else {
            return
        }
        let adapter = InputOptions.table.initAdapter.description.name
        if record != nil {
            texts[adapter] = RunRecord.adapter(of: run)
            return
        }
        guard texts[adapter] == nil else {
            throw UsageError.excludes(
                option: TrainingFlags.extend.description.name, other: adapter,
                command: table.command)
        }
        let taken = try RunRecord.Taken(extending: run, besides: texts, by: table)
        texts.merge(taken.texts) { typed, _ in typed }
        part = taken
    }

    /// The folder of `--output`, if `--resume` finds no run in it. A sweep's has its runs in
    /// folders.
    private var emptyOutput: String? {
        guard resumes, record == nil, texts[TrainingFlags.sweep.description.name] == nil else {
            return nil
        }
        return output
    }

    /// Help takes precedence over every error.
    private func wantedHelp(_ words: [String]) -> HelpPage? {
        let words = words.prefix { $0 != "--" }
        if words.contains("--help=\(Self.wholeHelp)") { return .whole }
        guard let place = words.firstIndex(where: { $0 == "--help" || $0 == "-h" }) else {
            return nil
        }
        return words.dropFirst(place + 1).first == Self.wholeHelp ? .whole : .short
    }

    private enum HelpPage { case short, whole }

    /// The word after `--help` that asks for every option.
    static let wholeHelp = "all"

    private mutating func read(_ words: [String]) throws {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                while let positional = rest.popFirst() { try append(positional, before: rest) }
                return
            }
            if word.hasPrefix("-"), word != "-" {
                last = nil
                try readOption(word, &rest)
            } else {
                try append(word, before: rest)
                last = nil
            }
        }
    }

    private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) throws {
        var (name, value) = Self.split(word)
        guard let option = try meant(name) else {
            throw UsageError.unknownOption(
                name, command: table.command,
                suggestion: Words.nearest(to: name, among: table.options.map { "--" + $0.name }))
        }
        if option.isFlag {
            if let value { throw UsageError.unexpectedValue(option: option.name, value: value) }
            texts[option.name] = "true"
            return
        }
        if value == nil, let bare = option.bare {
            // The next word is its value only if it can be one.
            let isNext = rest.first.map { option.choices.contains($0) } ?? false
            value = isNext ? rest.removeFirst() : bare
        }
        // A value may begin with dashes, unless it is "--" or an option of this table.
        if value == nil, let next = rest.first, next != "--",
            described(Self.split(next).name) == nil
        {
            value = next
            rest.removeFirst()
        }
        guard let value else {
            throw UsageError.missingValue(option: option.name, accepted: option.accepted)
        }
        if let refusal = option.refusal(of: value) {
            throw UsageError.badValue(
                option: option.name, value: value, accepted: refusal.accepted,
                suggestion: refusal.suggestion)
        }
        last = (option, value)
        guard let join = option.join, let before = texts[option.name] else {
            texts[option.name] = value
            return
        }
        do throws(JoinProblem) {
            texts[option.name] = try join(before, value)
        } catch .repeatedName {
            throw UsageError.repeatedName(option: option.name, value: value)
        } catch .notRepeatable(let name) {
            throw UsageError.notRepeatable(name: name, option: option.name)
        } catch .tooMany(let most) {
            throw UsageError.tooMany(option: option.name, most: most)
        }
    }

    /// Splits `--name=value`.
    private static func split(_ word: String) -> (name: String, value: String?) {
        guard let equals = word.firstIndex(of: "=") else { return (word, nil) }
        return (String(word[..<equals]), String(word[word.index(after: equals)...]))
    }

    /// The option that a word with its dashes names, as we or as another tool calls it.
    ///
    /// - Throws: `UsageError.foreignOption` for a name that means something else here.
    private func meant(_ word: String) throws -> OptionDescription? {
        if let option = described(word) ?? described(ForeignNames.spelled(word)) { return option }
        switch ForeignNames.meaning(of: word, in: table) {
        case .option(let name): return table.option(named: name)
        case .advice(let text):
            throw UsageError.foreignOption(word, command: table.command, advice: text)
        case nil: return nil
        }
    }

    /// The option that `word`, which includes the dashes, names.
    private func described(_ word: String) -> OptionDescription? {
        guard word.hasPrefix("--") else { return nil }
        return table.option(named: String(word.dropFirst(2)))
    }

    private mutating func append(_ word: String, before rest: ArraySlice<String>) throws {
        guard let expected = table.positional, expected.count == .oneOrMore || positionals.isEmpty
        else {
            let words = [word] + rest.prefix { !$0.hasPrefix("-") }
            if let last, let value = Self.list(last.value, words, of: last.option) {
                throw UsageError.severalValues(
                    option: last.option.name, second: word, value: value, command: table.command)
            }
            throw UsageError.unexpectedPositional(word, command: table.command)
        }
        guard
            expected.choices.isEmpty || expected.choices.contains(word)
                || expected.hidden.contains(word)
        else {
            throw UsageError.badPositional(
                word, command: table.command, accepted: Words.either(expected.choices),
                suggestion: Words.nearest(to: word, among: expected.choices))
        }
        positionals.append(word)
    }

    /// A value and the words behind it as one list, as a shell makes them of `*.jsonl` and other
    /// tools take them; nil: the option takes no lists.
    private static func list(
        _ value: String, _ words: [String], of option: OptionDescription
    ) -> String? {
        let all = ([value] + words).joined(separator: ",")
        let paths = [
            TrainingFlags.data.description, InputOptions.table.validData.description,
            InputOptions.table.testData.description,
        ]
        if paths.contains(where: { $0.name == option.name }) { return all }
        // An option that takes any text takes a comma, too.
        return option.json("\u{1}") == nil && option.json(all) != nil ? all : nil
    }

    private func checkPresence() throws {
        let options = table.options.filter { $0.isRequired && texts[$0.name] == nil }
        func words(_ options: [OptionDescription]) -> [String] {
            options.map { "--\($0.name) \($0.placeholder)" }
        }
        var missing = words(options)
        if resumes, record == nil {
            let ofRun = options.filter { RunRecord.required.contains($0.name) }
            if let emptyOutput, !ofRun.isEmpty {
                throw UsageError.noRun(
                    output: emptyOutput, needed: missing, command: table.command)
            }
            // The run's folder may well have the rest.
            if output == nil {
                missing = words(options.filter { !RunRecord.required.contains($0.name) })
            }
        }
        if let expected = table.positional, expected.count != .optional, positionals.isEmpty {
            missing.append(expected.placeholder)
        }
        guard missing.isEmpty else {
            throw UsageError.missing(missing, command: table.command)
        }
    }
}
