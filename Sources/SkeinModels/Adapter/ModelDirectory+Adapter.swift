import SkeinFormats

/// How an adapter in a GGUF file names what it adapts of a model, and back.
extension ModelDirectory {
    /// general.architecture of an adapter for this model.
    ///
    /// - Throws: `AdapterError.noGGUFNames`.
    package func adapterArchitecture() throws(AdapterError) -> String {
        let own = configuration.architecture
        guard let names = adapterLayout?.architectures, let first = names.first else {
            throw .noGGUFNames(architecture: own)
        }
        return names.contains(own) ? own : first
    }

    /// The module that a tensor of a GGUF file belongs to; nil: it is none that can be adapted.
    ///
    /// `tensor`: of the base model's file, such as "blk.0.attn_q.weight".
    package func adaptedModule(ofTensor tensor: String) -> GGUFAdapter.Name? {
        let suffix = ".weight"
        guard tensor.hasSuffix(suffix), let layout = adapterLayout else { return nil }
        let edges = EdgeTensorName.Module.allCases
        if let edge = edges.first(where: { adaptedTensor(of: $0) == tensor }) {
            let name = EdgeTensorName(
                module: edge, matrix: .a, blocks: configuration.adapterBlocks)
            return GGUFAdapter.Name(module: name.moduleName, interleavedHeadRows: nil)
        }
        guard let (name, isInterleaved) = layout.tensor(tensor, in: configuration.design),
            name.hasPrefix(configuration.design.names.blocks), name.hasSuffix(suffix)
        else { return nil }
        let parts = name.dropFirst(configuration.design.names.blocks.count)
            .dropLast(suffix.count).split(separator: ".")
        guard let layer = parts.first.flatMap({ Int($0) }), let last = parts.last,
            configuration.design.blocks.indices.contains(layer)
        else { return nil }
        let block = configuration.design.blocks[layer]
        // A family whose folders name modules otherwise than those of the layout's family.
        let known = TargetModule(name: String(last)).flatMap { module in
            block.projections.first { $0.module == module }?.name
        }
        let module = parts.dropFirst().joined(separator: ".")
        let own = block.target(module: String(last)) == nil ? known ?? module : module
        return GGUFAdapter.Name(
            module: configuration.design.tensor(own, in: layer),
            interleavedHeadRows: isInterleaved ? configuration.headDimension : nil)
    }

    /// The tensor of a GGUF file that is the embedding or the head; nil: the family has no GGUF files.
    func adaptedTensor(of edge: EdgeTensorName.Module) -> String? {
        let name = EdgeTensorName(module: edge, matrix: .a).weightName
        return adapterLayout?.names.first { $0.value == name }?.key
    }

    /// The modules of mlx-lm's model that hold a module, and the rows that each holds; nil: all. Only
    /// Granite 4 is built otherwise there: as a Granite 3.
    func modulesInMLX(
        of module: String, in layer: Int
    ) -> [(module: String, rows: Range<Int>?)] {
        let own = module.split(separator: ".").last.map(String.init) ?? module
        guard module.hasPrefix("shared_mlp.") else { return [(own, nil)] }
        return configuration.design.blocks[layer].projections.filter {
            $0.name == module || $0.fused == module
        }.map { ($0.module.name, $0.fused == module ? $0.rows : nil) }
    }

    /// The tensors of a GGUF file that hold a module, and the rows of the module that each holds.
    ///
    /// - Parameters:
    ///   - module: its name after the block's prefix, such as "self_attn.q_proj".
    ///   - layer: its layer.
    /// - Returns: one, or several for a module that the family's GGUF files store as several.
    func adaptedTensors(
        of module: String, in layer: Int
    ) -> [(tensor: String, rows: Range<Int>?, interleavedHeadRows: Int?)] {
        guard let layout = adapterLayout else { return [] }
        let block = configuration.design.blocks[layer]
        func tensor(named name: String) -> (String, Int?)? {
            for (key, value) in layout.namesInBlock where value == name + ".weight" {
                return (
                    "blk.\(layer).\(key)",
                    layout.interleaved.contains(key) ? configuration.headDimension : nil
                )
            }
            return nil
        }
        if let (name, headRows) = tensor(named: module) { return [(name, nil, headRows)] }
        let held = block.projections.filter { $0.name == module || $0.fused == module }
        return held.compactMap { projection in
            let usual = (projection.module < .gate ? "self_attn." : "mlp.") + projection.module.name
            guard let (name, headRows) = tensor(named: usual) else { return nil }
            return (name, projection.fused == module ? projection.rows : nil, headRows)
        }
    }
}
