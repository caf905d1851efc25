import SkeinBasics

/// A LoRA adapter on disk: in PEFT's format, adapter_config.json and adapter_model.safetensors, or as
/// another format's reader gives it.
package struct AdapterFiles: Sendable {
    package static let configurationName = "adapter_config.json"
    package static let weightsName = "adapter_model.safetensors"
    /// The weights of MLX's format.
    package static let mlxWeightsName = "adapters.safetensors"

    /// What is known without reading the numbers.
    package let outline: AdapterOutline
    /// By PEFT name: A [rank, in] and B [out, rank] of every adapted module, and its magnitudes [out]
    /// if it has any.
    package let tensors: [String: TensorView]
    /// The base model's own embedding and head, as PEFT saves them with adapters of these, by name.
    package let copies: [String: TensorView]

    package var configuration: AdapterConfiguration { outline.configuration }
    package var layers: [Int] { outline.layers }

    /// Reads the two files into memory and checks them.
    ///
    /// - Parameters:
    ///   - directory: the adapter's directory.
    ///   - store: where the files are.
    ///   - check: sees what the files promise before memory is taken for it. A file may claim any
    ///     size; the caller knows the model or the run that it has to fit.
    /// - Returns: the admitted adapter with its numbers.
    /// - Throws: `FileError` when a file cannot be read; `FormatError` when one is missing, is
    ///   invalid or asks for more than plain LoRA, or when matrices are unknown, unpaired, of
    ///   another rank or missing in some layers; what `check` throws.
    package static func read(
        _ directory: String, in store: any Store = DiskStore(),
        admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles {
        let file = try configurationFile(directory, in: store)
        let path = "\(directory)/\(weightsName)"
        let weights = try SafetensorsFile(copying: path, in: store) { header in
            try check(
                AdapterOutline(
                    file, weights: header, path: path,
                    configurationPath: "\(directory)/\(configurationName)"))
        }
        return try AdapterFiles(file, weights, directory)
    }

    /// Like `read`, but leaves the numbers on disk: for a caller that reads them once, row by row.
    ///
    /// An unreadable sector is then a signal (`MappedFile`), so call it only for a file that has
    /// been read before.
    package static func map(_ directory: String) throws -> AdapterFiles {
        let file = try configurationFile(directory, in: DiskStore())
        return try AdapterFiles(
            file, SafetensorsFile(path: "\(directory)/\(weightsName)", use: .adapter), directory)
    }

    private init(
        _ file: AdapterConfigurationFile, _ weights: SafetensorsFile, _ directory: String
    ) throws {
        outline = try AdapterOutline(
            file, shapes: weights.tensors.mapValues(\.shape), others: weights.otherTensors,
            path: weights.path, configurationPath: "\(directory)/\(Self.configurationName)")
        let known = outline.copies
        tensors = weights.tensors.filter { known[$0.key] == nil }
        copies = weights.tensors.filter { known[$0.key] != nil }
    }

    package init(
        outline: AdapterOutline, tensors: [String: TensorView], copies: [String: TensorView] = [:]
    ) {
        self.outline = outline
        self.tensors = tensors
        self.copies = copies
    }

    /// The same adapter, with the names that tensors have in a model.
    package func renamed(_ names: AdapterNames) -> AdapterFiles {
        var views: [String: TensorView] = [:]
        for (text, view) in tensors { views[names.name(text)] = view }
        return AdapterFiles(outline: outline.renamed(names), tensors: views, copies: copies)
    }

    private static func configurationFile(
        _ directory: String, in store: any Store
    ) throws -> AdapterConfigurationFile {
        let file = try decodeConfiguration(
            AdapterConfigurationFile.self, of: directory, beside: weightsName, in: store)
        try file.check(path: "\(directory)/\(configurationName)")
        return file
    }

    /// Reads adapter_config.json, which other formats' folders have, too, with fields of their own.
    ///
    /// - Throws: `FormatError.missingFile` if it or the weights are not there; `FormatError`,
    ///   `FileError`.
    package static func decodeConfiguration<File: Decodable>(
        _ type: File.Type, of directory: String, beside weights: String, in store: any Store
    ) throws -> File {
        for name in [configurationName, weights] where !store.exists("\(directory)/\(name)") {
            throw FormatError.missingFile(path: directory, expected: name)
        }
        return try JSONFile.decode(
            type, path: "\(directory)/\(configurationName)", limit: Limits.configurationBytes,
            in: store)
    }

    /// Writes both files into `directory`, which is made if needed; equal arguments give equal
    /// bytes. The configuration is written last: where it exists, the weights do, too.
    ///
    /// - Parameters:
    ///   - configuration: what adapter_config.json says.
    ///   - targets: names of modules, where the configuration's are not the same in every layer.
    ///   - tensors: by PEFT name.
    ///   - directory: of both files.
    ///   - store: where they are written.
    /// - Throws: `FileError` when it cannot be written, `FormatError` when the tensors do not fit the
    ///   configuration.
    package static func write(
        configuration: AdapterConfiguration, targets: [String]? = nil,
        tensors: [SafetensorsWriter.Tensor], to directory: String, in store: any Store = DiskStore()
    ) throws {
        let weightsPath = "\(directory)/\(weightsName)"
        var shapes: [String: [Int]] = [:]
        for tensor in tensors { shapes[tensor.name] = tensor.shape }
        let parts = try AdapterOutline.parts(
            of: shapes, rank: configuration.rankPattern.isEmpty ? configuration.rank : nil,
            magnitudes: configuration.usesMagnitudes, path: weightsPath)
        let found = Set(parts.names)
        guard found == Set(configuration.targetModules) else {
            throw FormatError.badField(
                path: weightsPath, field: "target_modules",
                expected: found.sorted().joined(separator: ", "),
                found: configuration.targetModules.joined(separator: ", "))
        }
        try store.makeDirectory(directory)
        try SafetensorsWriter.write(
            tensors, metadata: metadata, to: weightsPath, in: store)
        try store.write(
            configuration.json(targets: targets ?? Self.targets(configuration, parts.edges)),
            to: "\(directory)/\(configurationName)")
    }

    private static let metadata = ["format": "pt"]

    /// SHA-256 of the weights that `write` writes of these.
    ///
    /// - Throws: `FormatError.duplicate` when a name appears twice.
    package static func weightsDigest(
        of tensors: [SafetensorsWriter.Tensor]
    ) throws -> SHA256.Digest {
        try SafetensorsWriter.digest(of: tensors, metadata: metadata)
    }

    /// With a list of layers, PEFT takes a module outside of them only by its whole name; nil: the
    /// configuration's names do.
    private static func targets(
        _ configuration: AdapterConfiguration, _ edges: [AdapterOutline.Edge]
    ) -> [String]? {
        guard configuration.layersToTransform != nil, !edges.isEmpty else { return nil }
        return configuration.targetModules.map { name in
            edges.first { $0.module.rawValue == name }
                .flatMap { EdgeTensorName($0.tensor)?.moduleName } ?? name
        }
    }
}
