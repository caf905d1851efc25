import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinText

/// An adapter of any format, read for a base model.
package struct LoadedAdapter: Sendable {
    package let parameters: AdapterParameters
    /// What its files say: rank, alpha, base model, origin.
    package let configuration: AdapterConfiguration
    package let format: AdapterFormat
    package let path: String

    /// Reads and checks the adapter at a path.
    ///
    /// - Parameters:
    ///   - path: a PEFT or MLX folder, or a GGUF file.
    ///   - model: the base model.
    ///   - store: where folders are.
    ///   - admit: called with what its files announce before their numbers are read; what it throws
    ///     ends the reading.
    /// - Returns: the adapter, which fits the model.
    /// - Throws: `FormatError`, `FileError`, `AdapterError`.
    package static func read(
        _ path: String, for model: ModelDirectory, in store: any Store = DiskStore(),
        admitting admit: ((AdapterShape) throws -> Void)? = nil
    ) throws -> LoadedAdapter {
        let format = try AdapterFormat.of(path)
        let patterns = ModulePatterns()
        func matches(_ expression: String, _ text: String) throws(PatternFlaw) -> Bool {
            try patterns.matches(expression, text)
        }
        func check(_ outline: AdapterOutline) throws {
            try outline.check(against: model.configuration)
            guard let admit else { return }
            // With a budget of its own: reading the adapter asks all of it again.
            let announced = ModulePatterns()
            let lora = try outline.lora(for: model.configuration) {
                (expression, text) throws(PatternFlaw) in
                try announced.matches(expression, text)
            }
            try admit(AdapterShape(lora, model: model.configuration))
        }
        let files =
            switch format {
            case .peft: try AdapterFiles.read(path, in: store, admitting: check)
            case .mlx: try MLXAdapter.read(path, in: store, admitting: check)
            case .gguf: try gguf(path, model, admitting: check)
            }
        let parameters = try AdapterParameters(
            files: files, model: model.configuration, matching: matches)
        return LoadedAdapter(
            parameters: format == .peft
                ? parameters : parameters.joiningSlices(of: model.configuration),
            configuration: files.configuration, format: format,
            path: path)
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

    private static func gguf(
        _ path: String, _ model: ModelDirectory, admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles {
        let adapter = try GGUFAdapter(path: path)
        let architecture = try model.adapterArchitecture()
        guard adapter.architecture == architecture else {
            throw FormatError.badField(
                path: path, field: "general.architecture",
                expected: "\(architecture), as of the base model", found: adapter.architecture)
        }
        let files = try adapter.files(naming: model.adaptedModule)
        try check(files.outline)
        return files
    }
}
