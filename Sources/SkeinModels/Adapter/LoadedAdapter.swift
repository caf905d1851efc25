import Foundation
import SkeinBasics
import SkeinFormats

/// An adapter of any format, read for a base model.
package struct LoadedAdapter: Sendable {
    package let parameters: AdapterParameters
    /// What its files say: rank, alpha, base model, origin.
    package let configuration: AdapterConfiguration
    package let format: any AdapterFormat
    package let path: String

    /// Reads and checks the adapter at a path.
    ///
    /// - Parameters:
    ///   - path: a PEFT or MLX folder, or a GGUF file.
    ///   - model: the base model.
    ///   - makeMatching: makes what matches the expressions of a configuration with names, with a limit
    ///     of its own to the work (`ModulePatterns.matching`). It is called at most twice.
    ///   - store: where folders are.
    ///   - formats: the known ones.
    ///   - admit: called with what its files announce before their numbers are read; what it throws
    ///     ends the reading. PEFT's copies of the base model's weights, at most an embedding and a head,
    ///     are not announced: they are compared and dropped.
    /// - Returns: the adapter, which fits the model.
    /// - Throws: `FormatError`, `FileError`, `AdapterError`.
    package static func read(
        _ path: String, for model: ModelDirectory,
        matching makeMatching: () -> AdapterRules.Matching, in store: any Store = DiskStore(),
        formats: AdapterFormats = .standard, admitting admit: ((AdapterShape) throws -> Void)? = nil
    ) throws -> LoadedAdapter {
        let format = try formats.format(at: path)
        func check(_ outline: AdapterOutline) throws {
            try checkFit(outline, model, path)
            try format.check(
                usesMagnitudes: outline.configuration.usesMagnitudes,
                edges: outline.edges.map(\.module), of: model)
            guard let admit else { return }
            // With a limit of its own: reading the adapter asks all of it again.
            let lora = try outline.lora(for: model.configuration, matching: makeMatching())
            try admit(AdapterShape(lora, model: model.configuration))
        }
        let files = try format.read(path, for: model, in: store, admitting: check)
        let parameters = try AdapterParameters(
            files: files, model: model.configuration, matching: makeMatching())
        try checkCopies(files, model)
        return LoadedAdapter(
            parameters: format.mayStoreSlices
                ? parameters.joiningSlices(of: model.configuration) : parameters,
            configuration: files.configuration, format: format, path: path)
    }

    /// Checks that the matrices fit the model. Those that do not may be sound, and another model's:
    /// a person who is told that they are damaged would fetch them again.
    ///
    /// - Throws: `AdapterError.otherModel`; what `AdapterOutline.check` throws.
    private static func checkFit(
        _ outline: AdapterOutline, _ model: ModelDirectory, _ path: String
    ) throws {
        do {
            try outline.check(against: model.configuration)
        } catch let error as FormatError {
            let (origin, name) = (
                outline.configuration.origin, outline.configuration.baseModelName
            )
            let base = otherName(origin, name, than: model)
            guard let detail = misfit(error, isNamed: base != nil) else { throw error }
            throw AdapterError.otherModel(adapter: path, base: base, detail: detail)
        }
    }

    /// The error of a misfit, if the model is another one than the adapter's.
    ///
    /// - Parameters:
    ///   - error: of the check.
    ///   - isNamed: whether the adapter names another model. Without that, one vector or one matrix
    ///     with another rank than its partner is a damaged file.
    /// - Returns: what shows it; nil: the misfit is the adapter's own.
    private static func misfit(_ error: FormatError, isNamed: Bool) -> String? {
        switch error {
        case .wrongShape(_, let tensor, let expected, let found):
            let hasRank =
                switch AdapterTensorName(tensor)?.matrix {
                case .a: found.first == expected.first
                case .b: found.last == expected.last
                case .magnitude, nil: false
                }
            guard isNamed || hasRank && found.count == expected.count else { return nil }
            return "tensor '\(tensor)' has the shape \(found), and this model needs \(expected)"
        case .unexpectedTensor(_, let tensor):
            guard isNamed || AdapterTensorName(tensor) != nil else { return nil }
            return "this model has nothing that the tensor '\(tensor)' could be added to"
        default: return nil
        }
    }

    /// Checks that the embedding and the head that PEFT saved with the adapter are the base model's: rows
    /// that were changed or added would be missing here.
    ///
    /// - Throws: `AdapterError.otherCopy`.
    private static func checkCopies(_ files: AdapterFiles, _ model: ModelDirectory) throws {
        let names = model.configuration.design.names
        for (text, copy) in files.copies.sorted(by: { $0.key < $1.key }) {
            let isHead = EdgeTensorName(copy: text)?.module == .head
            let isOwn = isHead && !model.configuration.tiedEmbeddings
            let weight = try model.tensor(isOwn ? names.head : names.embedding)
            if let row = copy.firstOtherRow(than: weight) {
                throw AdapterError.otherCopy(name: text, row: row)
            }
        }
    }

    /// Checks that the adapter was made for a base model, if it says for which.
    ///
    /// `base`: the model's `contentDigest`.
    ///
    /// - Throws: `AdapterError.otherBase`.
    package func check(base: SHA256.Digest) throws(AdapterError) {
        guard let expected = configuration.origin?.base.sha256, expected != base.description else {
            return
        }
        throw .otherBase(adapter: path, expected: expected, found: base.description)
    }
}

extension TensorView {
    /// The first row in which a number differs, whatever their types; nil: none does.
    fileprivate func firstOtherRow(than other: TensorView) -> Int? {
        guard shape == other.shape else { return 0 }
        return withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * columns) { memory in
            guard let own = memory.baseAddress else { return nil }
            let (found, bytes) = (own + columns, columns * MemoryLayout<Float>.stride)
            return (0..<rows).first { row in
                dequantize(rows: row..<(row + 1), into: own)
                other.dequantize(rows: row..<(row + 1), into: found)
                return memcmp(own, found, bytes) != 0
            }
        }
    }
}
