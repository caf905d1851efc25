import SkeinBasics
import SkeinFormats

/// Hugging Face's format, which vLLM and others read, too: a folder with adapter_model.safetensors.
///
/// Runs keep their adapters in it, so `AdapterFiles` reads and writes its bytes without a model, and
/// `AdapterConfigurationFile` beside that has the fields of adapter_config.json.
package struct PEFTAdapter: AdapterFormat {
    package let id = "peft"
    package let name = "PEFT"
    package let form = AdapterForm.folder(weights: AdapterFiles.weightsName)
    package let cannotHold: Set<AdapterPart> = []
    package let mayStoreSlices = false

    package init() {}

    package func read(
        _ path: String, for model: ModelDirectory, in store: any Store,
        admitting check: (AdapterOutline) throws -> Void
    ) throws -> AdapterFiles {
        try AdapterFiles.read(path, in: store, admitting: check)
    }

    package func map(_ path: String) throws -> AdapterFiles { try AdapterFiles.map(path) }

    package func write(
        _ export: AdapterExport, to path: String, blocks: AdapterTensorName.Blocks,
        in store: any Store
    ) throws {
        let (lora, source) = (export.lora, export.source)
        var configuration = export.configuration
        var targets: [String]?
        if lora.exceptions.isEmpty {
            // The stated form of the scale, too.
            if source.usesRankStabilizedScale, source.rank == lora.rank,
                Float(source.scale) == lora.scale
            {
                configuration.usesRankStabilizedScale = true
                configuration.alpha = source.alpha
            }
        } else if let layers = evenLayers(export) {
            configuration.layersToTransform = layers
        } else {
            configuration.layersToTransform = nil
            let named =
                export.matrices.map { ("layers.\($0.layer).\($0.module)", $0.rank, $0.scale) }
                + export.edges.map { ($0.name.module.rawValue, $0.rank, $0.scale) }
            targets = named.map(\.0)
            for (name, rank, scale) in named {
                if rank != lora.rank { configuration.rankPattern[name] = rank }
                let alpha = Double(scale) * Double(rank)
                if alpha != configuration.alpha { configuration.alphaPattern[name] = alpha }
            }
        }
        let tensors =
            export.matrices.flatMap { [$0.a, $0.b, $0.magnitude].compactMap(\.self) }
            + export.edges.flatMap { [$0.a, $0.b] }
        try AdapterFiles.write(
            configuration: configuration, targets: targets,
            tensors: tensors.map { $0.renamed(blocks) }, to: path, in: store)
    }

    /// The adapted layers, if each has the same modules with the same rank and scale: then names of
    /// modules and layers say it all, which more tools understand.
    private func evenLayers(_ export: AdapterExport) -> [Int]? {
        let lora = export.lora
        var modules: [Int: Set<String>] = [:]
        for pair in export.matrices {
            guard pair.rank == lora.rank, pair.scale == lora.scale else { return nil }
            modules[pair.layer, default: []].insert(pair.module)
        }
        for edge in export.edges {
            guard edge.rank == lora.rank, edge.scale == lora.scale else { return nil }
        }
        return Set(modules.values).count == 1 ? modules.keys.sorted() : nil
    }
}
