import Foundation
import SkeinFormats
import SkeinModels
import SkeinTestSupport

@testable import SkeinSessions

/// A tiny model of random weights, and adapters for it.
struct SessionCase {
    let directory: String
    let path: String
    let directoryModel: ModelDirectory

    var url: URL { URL(filePath: path) }

    init(in directory: String, context: Int = 4096) throws {
        self.directory = directory
        path = directory + "/tiny.gguf"
        var tiny = TinyModel()
        tiny.contextLength = context
        try tiny.writeGGUF(to: path)
        directoryModel = try ModelDirectory.open(path)
    }

    /// The model, loaded with one thread and little memory.
    func model(
        adapter: SystemLanguageModel.Adapter? = nil,
        _ change: (inout SystemLanguageModel.Resources) -> Void = { _ in }
    ) -> SystemLanguageModel {
        var resources = SystemLanguageModel.Resources()
        resources.threads = 1
        resources.prefixCacheBytes = 8 << 20
        resources.schemaBytes = 64 << 20
        resources.maximumRank = 8
        change(&resources)
        return SystemLanguageModel(model: url, adapter: adapter, resources: resources)
    }

    /// Writes an adapter as PEFT's files. `base`: the SHA-256 that it says it was made for.
    func writeAdapter(_ name: String, seed: UInt64, base: String? = nil) throws -> URL {
        let rank = 4
        let lora = LoRAConfiguration(
            rank: rank, scale: 2, dropout: 0, targets: [.query, .value],
            layers: 0..<directoryModel.configuration.layerCount)
        var parameters = AdapterParameters(
            shape: AdapterShape(lora, model: directoryModel.configuration), seed: seed)
        let noise = CentralDifference.numbers(
            parameters.values.count, seed: seed, stream: 1, spread: 0.5)
        parameters.values = zip(parameters.values, noise).map { $0 + $1 }
        var configuration = AdapterConfiguration(
            rank: rank, alpha: Double(2 * rank), dropout: 0, targetModules: ["q_proj", "v_proj"],
            baseModelName: "tiny")
        if let base {
            configuration.origin = AdapterOrigin(
                base: AdapterOrigin.Base(name: "other", revision: nil, sha256: base), data: nil,
                recipe: nil)
        }
        let path = directory + "/" + name
        try AdapterFiles.write(
            configuration: configuration,
            tensors: parameters.shape.layout.tensors(parameters.values), to: path)
        return URL(filePath: path)
    }
}
