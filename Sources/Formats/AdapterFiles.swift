import Basics
import Foundation

/// A LoRA adapter on disk as PEFT has it: adapter_config.json and adapter_model.safetensors.
public struct AdapterFiles: Sendable {
    public static let configurationName = "adapter_config.json"
    public static let weightsName = "adapter_model.safetensors"

    /// Target modules and layers are those that the tensors show, whatever list or regular expression
    /// the file names them by.
    public let configuration: AdapterConfiguration
    /// By PEFT name: A [rank, in] and B [out, rank] of every target module in every layer of `layers`.
    public let tensors: [String: TensorView]
    /// Adapted layers, ascending.
    public let layers: [Int]

    /// Reads and checks the two files.
    ///
    /// - Throws: `FileError` when a file cannot be read; `FormatError` when one is missing or not
    ///   sound, asks for more than plain LoRA, or when matrices are unknown, unpaired, of another rank
    ///   or missing in some layers.
    public static func read(_ directory: String) throws -> AdapterFiles {
        let configurationPath = "\(directory)/\(configurationName)"
        let weightsPath = "\(directory)/\(weightsName)"
        for (path, name) in [
            (configurationPath, configurationName), (weightsPath, weightsName),
        ] where !FileManager.default.fileExists(atPath: path) {
            throw FormatError.missingFile(path: directory, expected: name)
        }
        let file = try JSONFile.decode(
            AdapterConfigurationFile.self, path: configurationPath,
            limit: Limits.configurationBytes)
        try file.check(path: configurationPath)
        let weights = try SafetensorsFile(path: weightsPath, copying: true)
        if let (name, type) = weights.otherTensors.min(by: { $0.key < $1.key }) {
            throw FormatError.unsupportedElementType(path: weightsPath, tensor: name, found: type)
        }
        let shapes = weights.tensors.mapValues { $0.shape }
        let found = try AdapterContents(shapes, rank: file.rank, path: weightsPath)
        let isFromFirst = found.layers == Array(0..<found.layers.count)
        let configuration = AdapterConfiguration(
            rank: file.rank, alpha: file.alpha ?? 8, dropout: file.dropout ?? 0,
            targetModules: found.modules,
            layersToTransform: file.layers == nil && isFromFirst ? nil : found.layers,
            baseModelName: file.baseModelName ?? "",
            usesRankStabilizedScale: file.usesRankStabilizedScale ?? false)
        return AdapterFiles(
            configuration: configuration, tensors: weights.tensors, layers: found.layers)
    }

    /// Writes both files into `directory`, which is made when it is not there; equal arguments give
    /// equal bytes. The configuration is written last: where it stands, the weights do.
    ///
    /// - Throws: `FileError` when it cannot be written, `FormatError` when the tensors do not fit the
    ///   configuration.
    public static func write(
        configuration: AdapterConfiguration, tensors: [SafetensorsWriter.Tensor],
        to directory: String
    ) throws {
        let weightsPath = "\(directory)/\(weightsName)"
        var shapes: [String: [Int]] = [:]
        for tensor in tensors { shapes[tensor.name] = tensor.shape }
        let found = try AdapterContents(shapes, rank: configuration.rank, path: weightsPath)
        guard found.modules == configuration.targetModules else {
            throw FormatError.badField(
                path: weightsPath, field: "target_modules",
                expected: found.modules.joined(separator: ", "),
                found: configuration.targetModules.joined(separator: ", "))
        }
        try AtomicFile.makeDirectory(directory)
        try SafetensorsWriter.write(tensors, metadata: ["format": "pt"], to: weightsPath)
        try AtomicFile.write(configuration.json, to: "\(directory)/\(configurationName)")
    }

    /// Checks that every matrix fits the weight of `model` that it is added to.
    ///
    /// - Throws: `FormatError.unexpectedTensor` for a layer that the model does not have, `.wrongShape`.
    public func check(against model: ModelConfiguration) throws {
        var shapes: [String: [Int]] = [:]
        for (name, shape) in model.requiredTensors { shapes[name] = shape }
        for (text, view) in tensors.sorted(by: { $0.key < $1.key }) {
            guard let name = AdapterTensorName(text), let weight = shapes[name.weightName],
                let out = weight.first, let input = weight.last
            else { throw FormatError.unexpectedTensor(path: view.path, tensor: text) }
            let rank = configuration.rank
            let expected = name.matrix == .a ? [rank, input] : [out, rank]
            guard view.shape == expected else {
                throw FormatError.wrongShape(
                    path: view.path, tensor: text, expected: expected, found: view.shape)
            }
        }
    }
}

/// Which modules and layers a set of LoRA matrices covers.
private struct AdapterContents {
    let modules: [String]
    let layers: [Int]

    /// Checks names, ranks, pairs, and that each module is adapted in each layer.
    init(_ shapes: [String: [Int]], rank: Int, path: String) throws {
        var names: Set<AdapterTensorName> = []
        for (text, shape) in shapes.sorted(by: { $0.key < $1.key }) {
            guard let name = AdapterTensorName(text) else {
                throw FormatError.unexpectedTensor(path: path, tensor: text)
            }
            let rankDimension = name.matrix == .a ? shape.first : shape.last
            guard shape.count == 2, rankDimension == rank else {
                let expected =
                    name.matrix == .a ? [rank, shape.last ?? 0] : [shape.first ?? 0, rank]
                throw FormatError.wrongShape(
                    path: path, tensor: text, expected: expected, found: shape)
            }
            names.insert(name)
        }
        let targets = Set(names.map(\.module))
        modules = AdapterTensorName.modules.filter(targets.contains)
        layers = Set(names.map(\.layer)).sorted()
        guard !names.isEmpty else {
            throw FormatError.missingTensor(path: path, tensor: "base_model.model.*.lora_A.weight")
        }
        for layer in layers {
            for module in modules {
                for matrix in AdapterTensorName.Matrix.allCases {
                    let name = AdapterTensorName(layer: layer, module: module, matrix: matrix)
                    guard names.contains(name) else {
                        throw FormatError.missingTensor(path: path, tensor: name.text)
                    }
                }
            }
        }
    }
}
