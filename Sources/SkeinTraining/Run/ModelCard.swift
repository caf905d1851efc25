import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinRows

/// README.md beside the adapter: what it is, what it was trained on, how well it does, and the command
/// that makes the same bytes again. The Hugging Face Hub shows it as the adapter's page.
///
/// It has no times and no folders: equal runs give equal bytes, wherever model and data are. run.json has
/// the paths.
package struct ModelCard {
    let job: TrainingJob
    /// Whose adapter it is.
    let step: Int
    /// What stands before the digest of the weights.
    static let weightsRow = "| adapter_model.safetensors, SHA-256 | "

    /// SHA-256 of the weights.
    let digest: SHA256.Digest
    let losses: RecordedLosses
    /// The first step for which other engines were admitted; nil: none up to this one.
    var otherEnginesFrom: Int?

    var text: String {
        let base = BaseModelName(path: job.model.path)
        let (report, lora) = (job.report, job.shape.configuration)
        let validation = losses.validation?.loss.map { "\($0)" } ?? "none"
        let beginning =
            job.runFile.initAdapterDigest.map { "\n| began with the adapter, SHA-256 | \($0) |" }
            ?? ""
        let start = losses.start?.loss.map { "\n| before the first step | \($0) |" } ?? ""
        return """
            ---
            base_model: \(JSONValue.quoted(base.name))
            library_name: peft
            pipeline_tag: text-generation
            tags:
            - lora
            - skein
            ---

            # LoRA adapter for \(Self.escaped(base.name))

            Trained with Skein \(job.runFile.version). \(promise)\(doubt)

            | | |
            |---|---|
            | base model | \(Self.escaped(base.name))\(base.revision.map { " at " + $0 } ?? "") |
            | base model, SHA-256 | \(job.runFile.modelDigest) |
            | rank, alpha, dropout | \(lora.rank), \(job.configuration.alpha), \
            \(job.configuration.dropout) |
            | target modules | \(lora.targets.map(\.name).joined(separator: ", ")) |
            | layers | \(lora.layers.count) of \(job.model.configuration.layerCount) |
            | \(Self.stepName) | \(step) of \(report.steps) |
            | training loss | \(losses.training.map { "\($0)" } ?? "none") |
            | validation loss | \(validation) |\(start)
            | rows | \(report.trainingRows) to train on, \(report.validationRows) for validation |
            | tokens | \(report.tokens), of which \(report.lossTokens) carry loss |
            | prompt format | \(report.format.rawValue) |\(beginning)
            | data, SHA-256 | \(job.runFile.dataDigest) |
            \(Self.weightsRow)\(digest) |

            ## \(otherEnginesFrom == nil ? "The same again" : "The same options again")

            ```sh
            \(command)
            ```

            """
    }

    private static let stepName = "step"

    /// How many steps the run has whose adapter a card describes: the files of a run that goes on say it
    /// nowhere else. nil: the card is another program's, or was edited.
    package static func stepCount(of card: [UInt8]) -> Int? {
        let start = "| \(stepName) | "
        let line = String(decoding: card, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix(start)
        }
        let words = line?.dropFirst(start.count).split(separator: " ") ?? []
        guard words.count >= 3, words[1] == "of" else { return nil }
        return Int(words[2])
    }

    /// What a reader must know of an adapter that is no better than what the run began with.
    private var doubt: String {
        guard
            let (start, kept) = losses.start.flatMap({ start in
                losses.validation.map { (start, $0) }
            })
        else { return "" }
        let improvement = Improvement(
            beginning: job.beginning, start: start, kept: kept, step: step)
        return improvement.isBetter ? "" : "\n\n**Beware:** \(improvement.sentence)."
    }

    private var promise: String {
        guard let step = otherEnginesFrom else {
            return "The same model, data, options and seed give the same bytes, on any number of "
                + "machines."
        }
        return "From step \(step) on, workers with other engines were admitted "
            + "(`--admit-other-engines`): the bytes depend on who computed what, and the same model, "
            + "data, options and seed need not give them again."
    }

    /// `skein train` with every option that is not its default.
    private var command: String {
        var words = [
            "skein train", "--model \(Self.quoted(BaseModelName(path: job.model.path).reference))",
            "--data \(Self.quoted(DataFiles.withoutFolders(job.runFile.data)))", "--output run",
        ]
        for (name, text) in job.configuration.changedInputs {
            words.append(text.isEmpty ? "--\(name)" : "--\(name) \(Self.quoted(text))")
        }
        return words.joined(separator: " \\\n  ")
    }

    /// As a POSIX shell takes it.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_-./,:=@+".utf8.contains(byte)
            }
        }
        guard !isPlain || text.isEmpty else { return text }
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// A name on one line of a table.
    private static func escaped(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "|" ? "_" : $0 })
    }
}

extension TrainingConfiguration {
    /// The options of recipe and inputs that are not their defaults, and those whose defaults may be others
    /// tomorrow, as on the command line, files by their names; a flag has an empty text.
    fileprivate var changedInputs: [(name: String, text: String)] {
        let plain = TrainingConfiguration()
        let recipe = RecipeOptions.options.map {
            ($0.description, self.recipe.text(of: $0), plain.recipe.text(of: $0))
        }
        let inputs = InputOptions.options.map {
            ($0.description, self.inputs.text(of: $0), plain.inputs.text(of: $0))
        }
        let lists = [InputOptions.table.validData, InputOptions.table.testData]
            .map(\.description.name)
        let template = RecipeOptions.table.chatTemplate.description.name
        let epochs = RecipeOptions.table.epochs.description.name
        let named = Set(RecipeOptions.measured.map(\.description.name)).filter {
            $0 != epochs || self.iterations == nil
        }
        return (recipe + inputs).compactMap { description, own, usual in
            guard let own, own != usual || named.contains(description.name) else { return nil }
            if description.isFlag { return (description.name, "") }
            if description.name == InputOptions.table.initAdapter.description.name {
                return (description.name, BaseModelName(path: own).reference)
            }
            if lists.contains(description.name) {
                return (description.name, DataFiles.withoutFolders(own))
            }
            return (
                description.name, description.name == template ? FilePath.name(of: own) : own
            )
        }
    }
}
