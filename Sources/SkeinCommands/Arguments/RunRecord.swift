import Foundation
import SkeinBasics
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
    static func isRecord(_ fields: [String: Field]) -> Bool {
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
    /// gets the model and how rows become text; the rows were the run's.
    func texts(for table: ArgumentTable) -> [String: String] {
        var texts: [String: String] = [:]
        func take(_ name: String, _ text: String) {
            guard let option = table.option(named: name), option.json(text) != nil else { return }
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

    /// What a resumed run takes from its record; there is none without a record.
    struct Taken: Sendable {
        /// By option name.
        let texts: [String: String]
        private let path: String
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
            let texts = try RunRecord(path: path).texts(for: table).filter { given[$0.key] == nil }
            for option in [SharedFlags.model.description, TrainingFlags.data.description] {
                guard let text = texts[option.name],
                    // Rows may be several files, with weights.
                    !text.contains(where: { ",:".contains($0) }), try FileKind.at(text) == nil
                else { continue }
                throw UsageError.recordedPath(option: option.name, path: text, record: path)
            }
            self.path = path
            self.texts = texts
            let epochs = RecipeOptions.table.epochs.description.name
            let hasSteps = texts[RecipeOptions.table.iterations.description.name] != nil
            told = table.options.compactMap { option in
                // Steps that are given make epochs idle.
                if option.name == epochs, hasSteps { return nil }
                guard let text = texts[option.name],
                    option.rule != nil
                        || option.json(text).map(JSONLine.render)
                            != option.fallback.flatMap(option.json).map(JSONLine.render)
                else { return nil }
                return (option.name, option.isFlag ? "" : text)
            }
        }

        /// One line for people; nil when all that matters was given.
        var sentence: String? {
            if told.isEmpty { return nil }
            let words = told.map { name, text in
                text.isEmpty ? "--\(name)" : "--\(name) \(ShellWords.quoted(text))"
            }
            return "what is not given is as in \(path): \(words.joined(separator: " "))"
        }

        /// The same for programs.
        var fields: [JSONLine.Field] {
            [
                ("event", .string("recorded")), ("record", .string(path)),
                (
                    "options",
                    .object(told.map { ($0.name, .string($0.text.isEmpty ? "true" : $0.text)) })
                ),
            ]
        }
    }
}
