import SkeinFormats

extension ModelConfiguration {
    /// How names of weights in blocks begin, as an adapter spells it.
    package var adapterBlocks: AdapterTensorName.Blocks {
        AdapterTensorName.Blocks(rawValue: design.names.blocks) ?? .text
    }

    /// The whole name of the embedding or the head, such as "model.embed_tokens".
    package func moduleName(ofEdge edge: TargetModule) -> String {
        EdgeTensorName(
            module: edge == .embedding ? .embedding : .head, matrix: .a, blocks: adapterBlocks
        ).moduleName
    }

    /// How it names what adapters are added to.
    var adapterNames: AdapterNames {
        var modules: [String: String] = [:]
        for projection in design.blocks.first?.projections ?? [] where projection.fused == nil {
            let own = projection.name.split(separator: ".").last.map(String.init)
            if let own, own != projection.module.name { modules[projection.module.name] = own }
        }
        return AdapterNames(blocks: adapterBlocks, modules: modules)
    }

    /// The modules of a layer as PEFT sees them: those that the files store as one tensor are one.
    func modules(ofLayer layer: Int) -> [(name: String, isSlice: Bool)] {
        var names: [(String, Bool)] = []
        for projection in design.blocks[layer].projections {
            if let fused = projection.fused, !names.contains(where: { $0.0 == fused }) {
                names.append((fused, false))
            }
            names.append((projection.name, projection.fused != nil))
        }
        return names
    }
}

/// What an adapter's files mean for a model.
extension AdapterOutline {
    /// Checks that every matrix fits the weight of `model` that it is added to.
    ///
    /// - Throws: `FormatError.unexpectedTensor` for a layer or a module that the model does not have,
    ///   `.wrongShape`; `AdapterError.resizedCopy`.
    package func check(against model: ModelConfiguration) throws {
        let renamed = renamed(model.adapterNames)
        let weights = model.adaptableWeights
        for module in renamed.modules {
            guard let name = AdapterTensorName(module.tensor),
                let weight = weights[name.weightName], let out = weight.first,
                let input = weight.last
            else { throw FormatError.unexpectedTensor(path: path, tensor: module.tensor) }
            for (matrix, expected) in [
                (AdapterTensorName.Matrix.a, [module.rank, input]), (.b, [out, module.rank]),
                (.magnitude, [out]),
            ] {
                let text = name.with(matrix).text
                guard let found = renamed.shapes[text], found != expected else { continue }
                throw FormatError.wrongShape(
                    path: path, tensor: text, expected: expected, found: found)
            }
        }
        for edge in renamed.edges {
            guard let name = EdgeTensorName(edge.tensor) else {
                throw FormatError.unexpectedTensor(path: path, tensor: edge.tensor)
            }
            let (inputs, outputs) = model.sizes(of: TargetModule(edge.module))
            for (matrix, expected) in [
                (AdapterTensorName.Matrix.a, [edge.rank, inputs]), (.b, [outputs, edge.rank]),
            ] {
                let text = name.with(matrix).text
                guard let found = renamed.shapes[text], found != expected else { continue }
                throw FormatError.wrongShape(
                    path: path, tensor: text, expected: expected, found: found)
            }
        }
        for (text, found) in copies.sorted(by: { $0.key < $1.key }) {
            let expected = [model.vocabularySize, model.width]
            guard found != expected else { continue }
            if found.count == 2, found[1] == model.width {
                throw AdapterError.resizedCopy(
                    name: text, expected: model.vocabularySize, found: found[0])
            }
            throw FormatError.wrongShape(
                path: path, tensor: text, expected: expected, found: found)
        }
    }

    /// What is adapted, and how strongly.
    ///
    /// - Parameters:
    ///   - model: the base model.
    ///   - matches: decides on regular expressions for names of modules.
    /// - Returns: rank and scale of each module.
    /// - Throws: `FormatError` when the matrices do not fit the model or the configuration: one that
    ///   is named there is missing, one is there that is not named, a pattern fits nothing.
    ///   `AdapterError.unknownModule`.
    package func lora(
        for model: ModelConfiguration, matching matches: AdapterRules.Matching
    ) throws -> LoRAConfiguration {
        try check(against: model)
        try checkNames(model, matches)
        var found: [LoRAConfiguration.Place: LoRAConfiguration.Strength] = [:]
        for module in modules {
            let block = model.design.blocks[module.layer]
            let own = model.adapterNames.modules[module.module] ?? module.module
            guard let target = block.target(module: own) else {
                throw AdapterError.unknownModule(
                    name: module.tensor, known: block.targets.map(\.name))
            }
            let scale = try scale(of: module, named: name(of: module), matches)
            found[.init(layer: module.layer, module: target)] = try strength(
                module.rank, scale, module.tensor)
        }
        for edge in edges {
            let name = EdgeTensorName(edge.tensor)?.moduleName ?? ""
            found[.init(edge: TargetModule(edge.module))] = try strength(
                edge.rank, try scale(of: edge, named: name, matches), edge.tensor)
        }
        try checkPatterns(matches)
        return LoRAConfiguration(
            found, dropout: Float(configuration.dropout),
            usesMagnitudes: configuration.usesMagnitudes)
    }

    private func strength(
        _ rank: Int, _ scale: Double, _ tensor: String
    ) throws -> LoRAConfiguration.Strength {
        // Alpha is a number of 64 bits in its file.
        guard Float(scale).isFinite else {
            throw FormatError.badField(
                path: path, field: "scale of \(tensor)", expected: "a number of 32 bits",
                found: "\(scale)")
        }
        return .init(rank: rank, scale: Float(scale))
    }

    /// The module's name in the base model, as the file spells it.
    private func name(of module: Module) -> String {
        AdapterTensorName(module.tensor).map { String($0.weightName.dropLast(7)) } ?? ""
    }

    /// Checks that what the configuration names is there, and nothing else.
    private func checkNames(
        _ model: ModelConfiguration, _ matches: AdapterRules.Matching
    ) throws {
        guard rules.targets != nil || rules.layers != nil || rules.excluded != nil else { return }
        for module in modules
        where try !rules.isTarget(name(of: module), layer: module.layer, matches) {
            throw FormatError.unnamedModule(path: path, tensor: module.tensor)
        }
        try checkEdgeNames(model, matches)
        let named = modules.first.flatMap { AdapterTensorName($0.tensor)?.blocks }
        guard rules.targets != nil, let blocks = named ?? edgeBlocks else { return }
        let adapted = Set(modules.map(\.tensor))
        for layer in 0..<model.layerCount {
            for (module, isSlice) in model.modules(ofLayer: layer) where !isSlice {
                let name = "\(blocks.rawValue)\(layer).\(module)"
                let tensor = "base_model.model.\(name).lora_A.weight"
                guard !adapted.contains(tensor),
                    try rules.isTarget(name, layer: layer, matches)
                else { continue }
                // Adapters of its slices are in its place.
                let hasSlices = modules.contains {
                    $0.layer == layer && self.isSlice($0, of: module, model)
                }
                if hasSlices { continue }
                throw FormatError.missingTensor(path: path, tensor: tensor)
            }
        }
    }

    /// How the names of an adapter of the embedding and the head alone begin.
    private var edgeBlocks: AdapterTensorName.Blocks? {
        edges.first.flatMap { EdgeTensorName($0.tensor)?.blocks }
    }

    /// The same of the embedding and the head.
    private func checkEdgeNames(
        _ model: ModelConfiguration, _ matches: AdapterRules.Matching
    ) throws {
        let blocks = modules.first.flatMap { AdapterTensorName($0.tensor)?.blocks } ?? edgeBlocks
        for module in EdgeTensorName.Module.allCases {
            let name = EdgeTensorName(module: module, matrix: .a, blocks: blocks ?? .text)
            let isTarget = try rules.isTarget(name.moduleName, layer: nil, matches)
            let edge = edges.first { $0.module == module }
            if let edge, !isTarget {
                throw FormatError.unnamedModule(path: path, tensor: edge.tensor)
            }
            guard edge == nil, isTarget, rules.targets != nil else { continue }
            throw FormatError.missingTensor(path: path, tensor: name.text)
        }
    }

    private func isSlice(_ module: Module, of fused: String, _ model: ModelConfiguration) -> Bool {
        model.design.blocks[module.layer].projections.contains {
            $0.fused == fused && $0.name.hasSuffix("." + module.module)
        }
    }

    /// Checks that every pattern of ranks and alphas fits a module.
    private func checkPatterns(_ matches: AdapterRules.Matching) throws {
        let names =
            modules.map(name) + edges.compactMap { EdgeTensorName($0.tensor)?.moduleName }
        for (field, keys) in [
            ("rank_pattern", configuration.rankPattern.keys.sorted()),
            ("alpha_pattern", configuration.alphaPattern.keys.sorted()),
        ] {
            for key in keys {
                let isUsed = try names.contains {
                    try rules.value(of: [key: true], field, for: $0, matches) != nil
                }
                guard isUsed else {
                    throw FormatError.badField(
                        path: rules.path, field: field,
                        expected: "patterns that fit a module of the adapter", found: "'\(key)'")
                }
            }
        }
    }
}

extension ModelConfiguration {
    /// Shapes of the weights that an adapter can be added to, by name.
    fileprivate var adaptableWeights: [String: [Int]] {
        var weights: [String: [Int]] = [:]
        for (layer, block) in design.blocks.enumerated() {
            for projection in block.projections {
                weights[design.tensor(projection.name + ".weight", in: layer)] = [
                    projection.outputs, projection.inputs,
                ]
                if let fused = projection.fused {
                    weights[design.tensor(fused + ".weight", in: layer)] = [
                        block.rows(ofFused: fused), projection.inputs,
                    ]
                }
            }
        }
        return weights
    }
}

extension LoRAConfiguration {
    /// The shortest description of what is adapted: the most frequent rank and scale, and what differs.
    ///
    /// `found`: not empty.
    init(_ found: [Place: Strength], dropout: Float, usesMagnitudes: Bool = false) {
        let targets = Set(found.keys.map(\.module))
        let layers = found.keys.filter { !$0.module.isEdge }.map(\.layer)
        var counts: [(strength: Strength, count: Int)] = []
        for (_, strength) in found.sorted(by: { $0.key < $1.key }) {
            if let index = counts.firstIndex(where: { $0.strength == strength }) {
                counts[index].count += 1
            } else {
                counts.append((strength, 1))
            }
        }
        let usual = counts.max { $0.count < $1.count }?.strength ?? Strength(rank: 1, scale: 0)
        let range = (layers.min() ?? 0)..<((layers.max() ?? -1) + 1)
        var exceptions: [Place: Strength?] = [:]
        for layer in range {
            for module in targets where !module.isEdge {
                let place = Place(layer: layer, module: module)
                if found[place] != usual { exceptions[place] = .some(found[place]) }
            }
        }
        for edge in targets where edge.isEdge {
            let place = Place(edge: edge)
            if found[place] != usual { exceptions[place] = .some(found[place]) }
        }
        self.init(
            rank: usual.rank, scale: usual.scale, dropout: dropout, targets: Array(targets),
            layers: range, exceptions: exceptions, usesMagnitudes: usesMagnitudes)
    }
}

extension TargetModule {
    /// As files name it.
    init(_ edge: EdgeTensorName.Module) {
        self =
            switch edge {
            case .embedding: .embedding
            case .head: .head
            }
    }
}

extension LoRAConfiguration.Place: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.layer, left.module) < (right.layer, right.module)
    }
}
