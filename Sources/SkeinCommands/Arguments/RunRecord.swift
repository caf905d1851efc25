import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTraining

/// The options in a run's record, run.json: for a new run (`--config RUN/run.json`), and for the run
/// itself (`--resume`).
///
/// What a process does with its machine, such as `--threads` and `--log-format`, is not the run's, and
/// is not taken.
struct RunRecord {
    let path: String
    private let run: RunFile

    /// - Throws: `FileError`, `TrainingError.damagedRecord`.
    init(path: String) throws {
        self.path = path
        run = try RunFile(path: path)
    }

    /// Whether an object is a record, and none of options.
    static func isRecord(_ fields: [JSONField]) -> Bool {
        ["configuration", "model_sha256", "fingerprint"].allSatisfy { fields[$0] != nil }
    }

    /// Whether a command continues runs by their records. In a job of `join` each task has the same
    /// words, and may not see the run's folder.
    static func isTaken(by table: ArgumentTable) -> Bool {
        let needed = [TrainingFlags.resume.description, TrainingFlags.output.description]
        return needed.allSatisfy { table.option(named: $0.name) != nil }
            && table.command != JoinCommand.table.command
    }

    /// Options that a new run needs and a record has.
    static let required = [
        SharedFlags.model.description.name, TrainingFlags.data.description.name,
    ]

    /// What the record says of a command's options, as it would be typed. A command that trains nothing
    /// gets the model and how rows become text, and `evaluate` the precision that the run validated in; the
    /// rows were the run's.
    func texts(for table: ArgumentTable) -> [String: String] {
        var texts: [String: String] = [:]
        func take(_ name: String, _ text: String) {
            guard let option = table.option(named: name), option.refusal(of: text) == nil
            else { return }
            if option.isFlag {
                if text == "on" { texts[name] = "true" }
            } else {
                texts[name] = text
            }
        }
        for option in TrainingConfiguration.options.map(\.description)
        where option.heading != .machine
            // Another option may have the same name, as the seed of an answer.
            && table.option(named: option.name)?.heading == option.heading
        {
            let value = run.configuration.fields.first { $0.0 == option.name }?.1
            if let text = value?.optionText { take(option.name, text) }
        }
        take(SharedFlags.model.description.name, run.model)
        if table.option(named: TrainingFlags.resume.description.name) != nil {
            take(TrainingFlags.data.description.name, run.data)
        }
        return texts
    }

    /// The same without what is given. Iterations override epochs, so they are not taken if other epochs
    /// than the recorded ones are given; with those, the words are the ones that the run was begun by.
    func texts(for table: ArgumentTable, besides given: [String: String]) -> [String: String] {
        let (iterations, epochs) = (
            RecipeOptions.table.iterations.description.name,
            RecipeOptions.table.epochs.description.name
        )
        let recorded = texts(for: table)
        let hasOtherEpochs = given[epochs].map { $0 != recorded[epochs] } ?? false
        return recorded.filter { name, _ in
            given[name] == nil && !(name == iterations && hasOtherEpochs)
        }
    }

    /// The adapter of a run, from which a second part begins.
    static func adapter(of run: String) -> String { FilePath.join(run, "adapter") }

    /// What a second part has that is not given. Another seed gives its epochs other orders of the rows;
    /// which of them are held out stays, or the first part would have learned them.
    ///
    /// - Throws: `UsageError.referenceOfPart`.
    private func textsOfPart(
        for table: ArgumentTable, besides given: [String: String]
    ) throws -> [String: String] {
        let (recipe, inputs) = (RecipeOptions.table, InputOptions.table)
        let first = run.configuration
        if first.reference == .initial, given[recipe.reference.description.name] == nil {
            throw UsageError.referenceOfPart(record: path)
        }
        var texts = texts(for: table, besides: given)
        // The two exclude each other.
        if given[recipe.warmupRatio.description.name] != nil {
            texts[recipe.warmupSteps.description.name] = nil
        }
        texts[inputs.anyBase.description.name] = nil
        texts[inputs.initAdapter.description.name] = Self.adapter(of: FilePath.parent(of: path))
        if given[recipe.seed.description.name] == nil {
            texts[recipe.seed.description.name] = "\(first.seed == .max ? 0 : first.seed + 1)"
        }
        if given[recipe.splitSeed.description.name] == nil, run.validationDigest == nil,
            given[inputs.validData.description.name] == nil
        {
            texts[recipe.splitSeed.description.name] = "\(first.splitSeed ?? first.seed)"
        }
        return texts
    }

    /// What a resumed run takes from its record; there is none without a record.
    struct Taken: Sendable {
        /// By option name.
        let texts: [String: String]
        private let path: String
        private let isPart: Bool
        /// Words that count for a new run alone.
        var unused: String?
        /// In the table's order, without what has its default.
        private let told: [(name: String, text: String)]

        /// - Parameters:
        ///   - output: the run's folder.
        ///   - given: texts of options that were given, which count.
        ///   - table: of the command.
        /// - Throws: `FileError`, `TrainingError.damagedRecord`; `UsageError.recordedPath`.
        init?(of output: String, besides given: [String: String], by table: ArgumentTable) throws {
            let path = FilePath.join(output, "run.json")
            guard try FileKind.at(path) != nil else { return nil }
            try self.init(
                RunRecord(path: path).texts(for: table, besides: given), of: path, by: table)
        }

        /// What a second part of the run in a folder takes.
        ///
        /// - Throws: `UsageError.incompletePart`, `.referenceOfPart`, `.recordedPath`;
        ///   `CommandError.badInput`; `FileError`, `TrainingError.damagedRecord`.
        init(extending run: String, besides given: [String: String], by table: ArgumentTable) throws
        {
            let folder = try RunFolder(path: run)
            guard folder.state == .complete else {
                throw UsageError.incompletePart(
                    run: run, step: folder.step, of: folder.stepCount,
                    isRunning: folder.state == .running)
            }
            let path = FilePath.join(folder.path, "run.json")
            try self.init(
                RunRecord(path: path).textsOfPart(for: table, besides: given), of: path, by: table,
                isPart: true)
        }

        private init(
            _ texts: [String: String], of path: String, by table: ArgumentTable,
            isPart: Bool = false
        ) throws {
            for option in [SharedFlags.model.description, TrainingFlags.data.description] {
                guard let text = texts[option.name],
                    // Rows may be several files, with weights.
                    !text.contains(where: { ",:".contains($0) }), try FileKind.at(text) == nil
                else { continue }
                throw UsageError.recordedPath(option: option.name, path: text, record: path)
            }
            self.path = path
            self.isPart = isPart
            self.texts = texts
            let epochs = RecipeOptions.table.epochs.description.name
            let hasSteps = texts[RecipeOptions.table.iterations.description.name] != nil
            told = table.options.compactMap { option in
                // Steps that are given make epochs idle.
                if option.name == epochs, hasSteps { return nil }
                guard let text = texts[option.name],
                    option.rule != nil
                        || option.json(text).map(\.written)
                            != option.fallback.flatMap(option.json).map(\.written)
                else { return nil }
                return (option.name, option.isFlag ? "" : text)
            }
        }

        /// One line for people; nil when all that matters was given.
        var sentence: String? {
            let ignored = unused.map { "\($0) counts for a new run alone" }
            if told.isEmpty { return ignored }
            let words = told.map { name, text in
                text.isEmpty ? "--\(name)" : "--\(name) \(ShellWords.quoted(text))"
            }
            let what =
                isPart
                ? "this is a second part of \(path); what is not given is"
                : "what is not given is as in \(path):"
            return (["\(what) \(words.joined(separator: " "))"] + [ignored].compactMap(\.self))
                .joined(separator: "; ")
        }

        /// The same for programs.
        var fields: [(String, JSONValue)] {
            [
                ("event", .text("recorded")), ("record", .text(path)),
                (
                    "options",
                    .fields(told.map { ($0.name, .text($0.text.isEmpty ? "true" : $0.text)) })
                ),
            ]
        }
    }
}
