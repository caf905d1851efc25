import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinTraining

extension Facts {
    /// An adapter of any format.
    ///
    /// - Throws: `FormatError`, `FileError`.
    init(adapterAt path: String) throws {
        add("kind", "adapter")
        add("path", path)
        try addAdapter(path)
    }

    /// A checkpoint, all files of which match its manifest.
    ///
    /// - Throws: `TrainingError.damagedCheckpoint`; `FormatError`, `FileError`.
    init(checkpointAt path: String) throws {
        let state = try Checkpoint.verify(directory: path)
        add("kind", "checkpoint")
        add("path", path)
        add("verified", .bool(true), shown: "every file matches manifest.json")
        add("step", state.step)
        add("epoch", state.epoch)
        add("best_validation_loss", state.bestValidationLoss.map { .decimal($0) } ?? .null)
        if let accuracy = state.bestValidationAccuracy {
            add("best_validation_accuracy", accuracy)
        }
        add("best_step", state.bestStep)
        add("validations_since_best", state.validationsSinceBest)
        add("configuration_sha256", state.configurationDigest)
        try addAdapter(path)
    }

    /// Adds what an adapter folder holds.
    private mutating func addAdapter(_ path: String) throws {
        // The hash comes first: it finds sectors that cannot be read, and the norms then read a
        // mapped file.
        let digest = try Self.digest(ofFile: AdapterFormats.standard.weights(of: path))
        let adapter = try AdapterSummary(path: path)
        let configuration = adapter.configuration
        add("format", .text(adapter.format.id), shown: adapter.format.name)
        add(
            "rank", .integer(adapter.ranks.upperBound),
            shown: adapter.ranks.count == 1
                ? nil : "\(adapter.ranks.lowerBound) to \(adapter.ranks.upperBound)")
        add("alpha", configuration.alpha)
        add("scale", adapter.scale)
        add("dropout", configuration.dropout)
        add("target_modules", .list(adapter.modules.map { .text($0) }))
        add(
            "layers", .list(adapter.layers.map { .integer($0) }),
            shown: Self.ranges(adapter.layers) + " (\(adapter.layers.count))")
        add("base_model", configuration.baseModelName)
        if let origin = configuration.origin {
            add("base_model_sha256", origin.base.sha256)
            if let data = origin.data { add("data_sha256", data.sha256) }
        }
        add("parameters", adapter.parameterCount)
        for matrix in AdapterTensorName.Matrix.allCases {
            let norm = Self.norm(adapter.matrices[matrix] ?? [:])
            add("norm_" + (matrix == .a ? "a" : "b"), .decimal(norm), shown: Figures.fixed(norm, 4))
        }
        if configuration.usesMagnitudes {
            let norm = Self.norm(adapter.matrices[.magnitude] ?? [:])
            add("norm_magnitudes", .decimal(norm), shown: Figures.fixed(norm, 4))
        }
        add("sha256", digest)
    }

    /// The Euclidean norm of all elements of some tensors, summed in order of their names.
    private static func norm(_ tensors: [String: TensorView]) -> Double {
        var sum = 0.0
        for (_, view) in tensors.sorted(by: { $0.key < $1.key }) {
            var row = [Float](repeating: 0, count: view.columns)
            for index in 0..<view.rows {
                row.withUnsafeMutableBufferPointer { row in
                    guard let out = row.baseAddress else { return }
                    view.dequantize(rows: index..<(index + 1), into: out)
                }
                for value in row { sum += Double(value) * Double(value) }
            }
        }
        return sum.squareRoot()
    }

    /// Ascending numbers as ranges: `0-3, 7`.
    static func ranges(_ numbers: [Int]) -> String {
        var runs: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }
}
