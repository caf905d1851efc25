import Foundation
import SkeinBasics
import SkeinTensors

extension TrainingConfiguration {
    /// Tokens of a row and of a micro-batch: more than any context that a machine without
    /// accelerators can train.
    package static let mostTokens = 1 << 20

    /// All options in the order of `skein train --help`. The ranges end where a value is a slip of the
    /// finger rather than a wish.
    package static let options: [TrainingOption] = [
        .integer("rank", 1...1024, \.rank),
        .number("alpha", "a number above 0, at most 65536", \.alpha) { $0 > 0 && $0 <= 65536 },
        .number("dropout", "a number from 0 to \(Dropout.mostProbable)", \.dropout) {
            $0 >= 0 && $0 <= Dropout.mostProbable
        },
        .targetModules,
        .layers,
        .number("learning-rate", "a number above 0, at most 10", \.learningRate) {
            $0 > 0 && $0 <= 10
        },
        .number("weight-decay", "a number from 0 to 10", \.weightDecay) { $0 >= 0 && $0 <= 10 },
        .number("beta1", "a number from 0 to below 1", \.beta1) { $0 >= 0 && $0 < 1 },
        .number("beta2", "a number from 0 to below 1", \.beta2) { $0 >= 0 && $0 < 1 },
        // As Float, too, it must be above 0: where a gradient is 0, the update is 0 / epsilon.
        .number("epsilon", "a number from 1e-30 to 1", \.epsilon) { $0 >= 1e-30 && $0 <= 1 },
        .choice("schedule", \.schedule),
        .integer("warmup-steps", 0...Limits.steps, \.warmupSteps),
        .number("max-grad-norm", "a number from 0 (off) to 1e6", \.maxGradNorm) {
            $0 >= 0 && $0 <= 1e6
        },
        .integer("epochs", 1...1_000_000, \.epochs),
        .optionalInteger("iterations", 1...Limits.steps, \.iterations),
        .integer("batch-size", 1...65536, \.batchSize),
        .integer("micro-batch-tokens", 1...mostTokens, \.microBatchTokens),
        .optionalInteger("slots", 1...65536, \.slots).namedOnlyWhenGiven(),
        .integer("max-length", 2...mostTokens, \.maxLength),
        .integer("seed", 0...Int.max, \.seed),
        .toggle("shuffle", \.shuffle, shapesResult: true),
        .number("validation-split", "a number from 0 to below 1", \.validationSplit) {
            $0 >= 0 && $0 < 1
        },
        .path("valid-data", \.validData),
        .path("test-data", \.testData),
        .choice("prompt-format", \.promptFormat),
        .choice("train-on", \.trainOn),
        .toggle("skip-bad-lines", \.skipBadLines, shapesResult: false),
        .path("init-adapter", \.initAdapter),
        .integer("report-every", 1...Limits.steps, \.reportEvery, shapesResult: false),
        .integer("checkpoint-every", 0...Limits.steps, \.checkpointEvery, shapesResult: false),
        .integer("keep-checkpoints", 1...Limits.steps, \.keepCheckpoints, shapesResult: false),
        .optionalInteger("early-stop-patience", 1...Limits.steps, \.earlyStopPatience),
        .optionalInteger("threads", 1...1024, \.threads, shapesResult: false),
        .choice("weights", \.weights, shapesResult: false),
        .toggle("gradient-checkpointing", \.gradientCheckpointing, shapesResult: false),
        .choice("gradient-codec", \.gradientCodec),
        .choice("compute", \.compute),
        .integer("min-workers", 1...65536, \.minWorkers, shapesResult: false),
        .patience,
        .choice("log-format", \.logFormat, shapesResult: false),
    ]

    /// Sets one option from text.
    ///
    /// - Parameters:
    ///   - name: `learning-rate` or `learningRate`.
    ///   - text: as on the command line.
    /// - Throws: `TrainingError.unknownOption`, `.badOption`.
    package mutating func set(_ name: String, to text: String) throws {
        guard let option = Self.option(named: name) else {
            throw TrainingError.unknownOption(name: name)
        }
        guard option.assign(&self, text) else {
            throw TrainingError.badOption(
                flag: option.name, value: text, allowed: option.allowed)
        }
    }

    /// The option of this name, in either spelling.
    package static func option(named name: String) -> TrainingOption? {
        options.first { $0.name == name || $0.camelCaseName == name }
    }

    /// Checks values that were set in code as `set` checks those from text.
    ///
    /// - Throws: `TrainingError.badOption`.
    package func validate() throws {
        var copy = self
        for option in Self.options {
            guard let text = option.text(in: self) else { continue }
            try copy.set(option.name, to: text)
        }
    }

    /// The fields of run.json's `configuration`, in the order of the options.
    package var fields: [JSONLine.Field] {
        Self.options.filter(isNamed).map { ($0.name, $0.value(self)) }
    }

    private func isNamed(_ option: TrainingOption) -> Bool {
        !option.isNamedOnlyWhenGiven || option.text(in: self) != nil
    }

    /// Sets every option that a JSON object names (a `--config` file, run.json's `configuration`).
    ///
    /// A null leaves the option as it is.
    ///
    /// - Throws: `TrainingError.unknownOption`, `.badOption`.
    package mutating func apply(_ object: [String: Any]) throws {
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            guard let option = Self.option(named: name) else {
                throw TrainingError.unknownOption(name: name)
            }
            if value is NSNull { continue }
            guard let text = Self.text(of: value) else {
                throw TrainingError.badOption(
                    flag: option.name, value: JSONKind.name(of: value), allowed: option.allowed)
            }
            try set(name, to: text)
        }
    }

    /// A JSON value as the command line would have it; nil for an object.
    private static func text(of value: Any) -> String? {
        switch value {
        case let text as String: text
        case let number as NSNumber where JSONKind.isBool(number):
            number.boolValue ? "on" : "off"
        case let number as NSNumber:
            (value as? Int).map { String($0) } ?? number.doubleValue.description
        case let list as [Any]:
            list.compactMap { $0 as? String }.count == list.count
                ? list.compactMap { $0 as? String }.joined(separator: ",") : nil
        default: nil
        }
    }

    /// SHA-256 of all that the result depends on, beside the bytes of model, data and adapter.
    package var digest: SHA256.Digest {
        var text = "skein configuration 1\n"
        for option in Self.options where option.shapesResult && isNamed(option) {
            text += "\(option.name)=\(option.text(in: self) ?? "")\n"
        }
        return SHA256.digest(of: text)
    }

    /// The options on which the result depends and that differ from those of a recorded run.
    package func differences(from recorded: TrainingConfiguration) -> [Difference] {
        Self.options.filter(\.shapesResult).compactMap { option in
            let now = option.text(in: self)
            let then = option.text(in: recorded)
            guard now != then else { return nil }
            return Difference(
                field: option.name, recorded: then ?? "not given", requested: now ?? "not given")
        }
    }
}
