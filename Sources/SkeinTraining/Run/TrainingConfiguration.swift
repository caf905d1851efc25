import Foundation
import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinText

/// All options of a run. An option is declared in one of four tables, by what depends on it, and is
/// read as if it were a property here: `configuration.rank`.
@dynamicMemberLookup
package struct TrainingConfiguration: Sendable, Equatable {
    /// The options that shape the result.
    package var recipe = OptionValues<RecipeOptions>()
    package var inputs = OptionValues<InputOptions>()
    package var machine = OptionValues<MachineOptions>()
    package var cluster = OptionValues<ClusterOptions>()

    package init() {}

    package subscript<Value>(dynamicMember path: KeyPath<RecipeOptions, Option<Value>>) -> Value {
        get { recipe[dynamicMember: path] }
        set { recipe[dynamicMember: path] = newValue }
    }

    package subscript<Value>(dynamicMember path: KeyPath<InputOptions, Option<Value>>) -> Value {
        get { inputs[dynamicMember: path] }
        set { inputs[dynamicMember: path] = newValue }
    }

    package subscript<Value>(dynamicMember path: KeyPath<MachineOptions, Option<Value>>) -> Value {
        get { machine[dynamicMember: path] }
        set { machine[dynamicMember: path] = newValue }
    }

    package subscript<Value>(dynamicMember path: KeyPath<ClusterOptions, Option<Value>>) -> Value {
        get { cluster[dynamicMember: path] }
        set { cluster[dynamicMember: path] = newValue }
    }

    /// All options, in the order of run.json.
    package static let options: [any AnyOption] =
        RecipeOptions.options + InputOptions.options + MachineOptions.options
        + ClusterOptions.options
}

// Settings for the engine.
extension TrainingConfiguration {
    /// The seed, as `AddressedRandom` takes it.
    package var addressedSeed: UInt64 { UInt64(self.seed) }

    /// The seed that decides which rows are held out.
    package var addressedSplitSeed: UInt64 { UInt64(self.splitSeed ?? self.seed) }

    /// Which keys hold the parts of a row.
    package var rowFields: RowFields {
        var fields = self.field.flatMap { RowFields($0) } ?? RowFields()
        fields.comparesAnswers = preferenceLoss != nil
        fields.readsParagraphs = self.textChunks == true
        return fields
    }

    /// The settings of the optimizer.
    package var adamW: AdamW.Settings {
        AdamW.Settings(
            beta1: self.beta1, beta2: self.beta2, epsilon: self.epsilon,
            weightDecay: self.weightDecay)
    }

    /// Tokens of the rows into which long texts are cut; nil: they are not.
    package var chunkLength: Int? { self.textChunks == true ? self.maxLength : nil }

    /// The parameters of an adapter that have another learning rate; nil: none has.
    package func rateFactor(_ layout: ParameterLayout) -> RateFactor? {
        self.loraPlusRatio.map {
            RateFactor($0, embedding: RateFactor.embeddingRate / self.learningRate, in: layout)
        }
    }

    /// The learning rate of each of `stepCount` steps.
    package func learningRates(stepCount: Int) -> Schedule {
        let warmup = self.warmupRatio.map { Int(($0 * Double(stepCount)).rounded(.up)) }
        return Schedule(
            kind: self.schedule, peak: self.learningRate,
            warmupSteps: warmup ?? self.warmupSteps, stepCount: stepCount,
            floor: self.minLearningRate ?? 0, cycles: self.restarts ?? 1, power: self.power ?? 1)
    }

    /// What alpha is divided by: the rank, or its root in a rank-stabilized adapter
    /// (Kalajdzievski 2023).
    package func scaleDivisor(rank: Int) -> Double {
        self.rslora == true ? Double(rank).squareRoot() : Double(rank)
    }

    /// What a run adapts of a model of `layerCount` layers, without its patterns: `lora(for:)` has
    /// them.
    ///
    /// - Throws: `TrainingError.layersOutOfRange`.
    package func lora(layerCount: Int) throws -> LoRAConfiguration {
        LoRAConfiguration(
            rank: self.rank, scale: Float(self.alpha / self.scaleDivisor(rank: self.rank)),
            dropout: Float(self.dropout), targets: self.targetModules,
            layers: try self.layers.range(layerCount: layerCount),
            usesMagnitudes: self.dora ?? false)
    }
}

// Options as text.
extension TrainingConfiguration {
    /// Sets one option from text.
    ///
    /// - Parameters:
    ///   - name: `learning-rate` or `learningRate`.
    ///   - text: as on the command line.
    /// - Throws: `TrainingError.unknownOption`, `.badOption`.
    package mutating func set(_ name: String, to text: String) throws {
        let option = try Self.option(named: name)
        let accepted =
            if RecipeOptions.has(option) {
                recipe.set(option, to: text)
            } else if InputOptions.has(option) {
                inputs.set(option, to: text)
            } else if MachineOptions.has(option) {
                machine.set(option, to: text)
            } else {
                cluster.set(option, to: text)
            }
        guard accepted else { throw TrainingError.badOption(option.description, text) }
    }

    /// Checks values that were set in code, as `set` checks those from text.
    ///
    /// - Throws: `TrainingError.badOption`.
    package func validate() throws {
        let refused =
            recipe.firstRefused ?? inputs.firstRefused ?? machine.firstRefused
            ?? cluster.firstRefused
        if let (option, text) = refused { throw TrainingError.badOption(option, text) }
    }

    private static func option(named name: String) throws -> any AnyOption {
        let dashed = OptionDescription.name(of: name)
        guard let option = options.first(where: { $0.description.name == dashed }) else {
            throw TrainingError.unknownOption(name: ForeignText.shown(name))
        }
        return option
    }

    /// SHA-256 of the recipe: everything that the result depends on besides the bytes of model,
    /// data and adapter.
    package var digest: SHA256.Digest {
        var text = "skein configuration 1\n"
        for option in recipe.named {
            text += "\(option.description.name)=\(recipe.text(of: option) ?? "")\n"
        }
        return SHA256.digest(of: text)
    }

    /// Every option that shapes the result, by name, as on the command line.
    package var recipeTexts: [String: String] {
        var texts: [String: String] = [:]
        for option in recipe.named {
            if let text = recipe.text(of: option) { texts[option.description.name] = text }
        }
        // A file counts by what is in it, wherever it lies.
        let template = RecipeOptions.table.chatTemplate.description.name
        texts[template] = texts[template].map(FilePath.name)
        return texts
    }

    /// The options that shape the result and differ from those of a recorded run.
    package func differences(from recorded: TrainingConfiguration) -> [Difference] {
        RecipeOptions.options.compactMap { option in
            let (now, then) = (recipe.text(of: option), recorded.recipe.text(of: option))
            guard now != then else { return nil }
            return Difference(
                field: option.description.name, recorded: then ?? "not given",
                requested: now ?? "not given")
        }
    }
}

// Options as JSON: in run.json, and from a coordinator to its workers.
extension TrainingConfiguration {
    /// The fields of run.json's `configuration`, in the order of the options.
    package var fields: [(String, JSONValue)] {
        recipe.fields + inputs.fields + machine.fields + cluster.fields
    }

    /// The `configuration` object of run.json, on one line.
    package var json: [UInt8] { Array(JSONValue.fields(fields).written.utf8) }

    /// Reads `json` back.
    ///
    /// - Parameters:
    ///   - bytes: of a JSON object that names options; the others keep their defaults.
    ///   - path: where the bytes come from, for the error.
    /// - Throws: `TrainingError.damagedRecord` that names the option.
    package init(json bytes: [UInt8], path: String) throws {
        guard bytes.count <= Limits.recordFileBytes else {
            throw TrainingError.damagedRecord(
                path: path, line: nil,
                detail: "\(bytes.count) bytes, more than \(Limits.recordFileBytes)")
        }
        try self.init(recorded: RecordFile.object(from: bytes, path: path), path: path)
    }

    /// Reads back what `fields` returned.
    ///
    /// - Throws: `TrainingError.damagedRecord` that names the option.
    package init(recorded object: [JSONField], path: String) throws {
        self.init()
        do {
            try apply(object)
        } catch let error as TrainingError {
            var detail = "configuration: \(error.explanation.what)"
            if case .unknownOption = error {
                detail += " in this version; has a newer one written it?"
            }
            throw TrainingError.damagedRecord(path: path, line: nil, detail: detail)
        }
    }

    /// Sets every option that a JSON object names; a null leaves the option as it is.
    ///
    /// - Throws: `TrainingError.unknownOption`, `.badOption`.
    mutating func apply(_ object: [JSONField]) throws {
        for field in object {
            let option = try Self.option(named: field.name)
            if field.value == .null { continue }
            guard let text = option.description.text(of: field.value) else {
                throw TrainingError.badOption(option.description, field.value.kind)
            }
            try set(field.name, to: text)
        }
    }
}

extension OptionTable {
    fileprivate static func has(_ option: any AnyOption) -> Bool {
        options.contains { $0.description.name == option.description.name }
    }
}

extension TrainingError {
    fileprivate static func badOption(_ option: OptionDescription, _ text: String) -> TrainingError
    {
        // The text may come from a coordinator, or a record that was edited.
        .badOption(
            flag: option.name, value: ForeignText.shown(text), allowed: option.accepted)
    }
}

extension TrainingConfiguration {
    /// The chat template, as the options have it.
    package var chat: ChatTemplateSettings {
        ChatTemplateSettings(
            template: self.chatTemplate, arguments: self.templateArgument, date: self.templateDate)
    }
}
