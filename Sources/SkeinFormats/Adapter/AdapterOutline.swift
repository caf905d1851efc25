import SkeinBasics

/// What an adapter's configuration and the header of its weights say: all but the numbers.
package struct AdapterOutline: Sendable {
    /// A module of a layer, with the rank that its matrices have.
    package struct Module: Sendable, Equatable {
        package let layer: Int
        /// One of `AdapterTensorName.modules`.
        package let module: String
        package let rank: Int
        /// The name of the module's A.
        package let tensor: String
    }

    /// Where the factors of B A x come from.
    package enum Scale: Sendable, Equatable {
        /// The configuration states ranks and alphas.
        case configured
        /// Alpha by the rank that each module's matrices have.
        case byRank(alpha: Double)
        case same(Double)
    }

    /// Target modules and layers are those of the tensors, whatever list or regular expression the
    /// file gives.
    package let configuration: AdapterConfiguration
    /// The matrices' shapes by PEFT name.
    package let shapes: [String: [Int]]
    /// What is adapted in blocks, by layer and then in the order of `AdapterTensorName.modules`.
    package let modules: [Module]
    /// What is adapted outside of them: the embedding, the head.
    package let edges: [Edge]
    /// Shapes of the base model's own embedding and head, which PEFT saves with adapters of these.
    package let copies: [String: [Int]]
    /// What the configuration says of names; of formats without such rules, that all fit.
    package let rules: AdapterRules
    let scale: Scale
    /// The path of the weights.
    package let path: String

    /// Adapted layers, ascending.
    package var layers: [Int] { Set(modules.map(\.layer)).sorted() }

    /// The factor of B A x, of modules of the stated rank and alpha.
    package var statedScale: Double {
        if case .same(let scale) = scale { scale } else { configuration.scale }
    }

    init(
        _ file: AdapterConfigurationFile, weights header: SafetensorsHeader, path: String,
        configurationPath: String
    ) throws {
        try self.init(
            file, shapes: header.tensors.mapValues(\.shape), others: header.otherTensors,
            path: path, configurationPath: configurationPath)
    }

    /// Reads what a PEFT folder says.
    ///
    /// - Throws: `FormatError` for matrices that are not floats, are unknown or unpaired.
    init(
        _ file: AdapterConfigurationFile, shapes: [String: [Int]], others: [String: String],
        path: String, configurationPath: String
    ) throws {
        try Self.refuse(others, path: path)
        // Without patterns every rank is known here; with them, once names are matched.
        let parts = try Self.parts(
            of: shapes, rank: (file.rankPattern ?? [:]).isEmpty ? file.rank : nil,
            magnitudes: file.usesDoRA ?? false, path: path)
        let layers = Set(parts.modules.map(\.layer)).sorted()
        let isUnstated = file.layers == nil || layers.isEmpty
        self.init(
            configuration: file.configuration(
                targetModules: parts.names,
                layersToTransform: isUnstated ? parts.layersUnlessFromFirst : layers),
            parts, rules: file.rules(path: configurationPath), scale: .configured, path: path)
    }

    package init(
        configuration: AdapterConfiguration, _ parts: Parts, rules: AdapterRules, scale: Scale,
        path: String
    ) {
        self.configuration = configuration
        shapes = parts.shapes
        modules = parts.modules
        edges = parts.edges
        copies = parts.copies
        self.rules = rules
        self.scale = scale
        self.path = path
    }

    /// `AdapterFiles.renamed`, before any number is read.
    package func renamed(_ names: AdapterNames) -> AdapterOutline {
        var renamed: [String: [Int]] = [:]
        for (text, shape) in shapes { renamed[names.name(text)] = shape }
        let parts = Parts(
            modules: modules.map {
                Module(
                    layer: $0.layer, module: names.modules[$0.module] ?? $0.module, rank: $0.rank,
                    tensor: names.name($0.tensor))
            },
            edges: edges.map {
                Edge(module: $0.module, rank: $0.rank, tensor: names.name($0.tensor))
            },
            shapes: renamed, copies: copies)
        return AdapterOutline(
            configuration: configuration, parts, rules: rules, scale: scale, path: path)
    }

    /// - Throws: `FormatError.unsupportedElementType` for the first of some tensors that are no floats.
    package static func refuse(_ others: [String: String], path: String) throws {
        if let (name, type) = others.min(by: { $0.key < $1.key }) {
            throw FormatError.unsupportedElementType(path: path, tensor: name, found: type)
        }
    }

    /// Which modules a set of LoRA matrices covers.
    ///
    /// - Parameters:
    ///   - shapes: by PEFT name.
    ///   - rank: that all matrices have; nil: each pair its own.
    ///   - magnitudes: whether each module has a vector of magnitudes.
    ///   - path: of the weights.
    /// - Returns: by layer, then in the order of `AdapterTensorName.modules`; at least one.
    /// - Throws: `FormatError` for names that are unknown, matrices that are unpaired or of two ranks,
    ///   dimensions that no weight has, and a module that is adapted together with a part of it.
    static func modules(
        of shapes: [String: [Int]], rank: Int?, magnitudes: Bool = false, path: String
    ) throws -> [Module] {
        var names: Set<AdapterTensorName> = []
        for (text, shape) in shapes.sorted(by: { $0.key < $1.key }) {
            guard let name = AdapterTensorName(text), magnitudes || name.matrix != .magnitude else {
                throw FormatError.unexpectedTensor(path: path, tensor: text)
            }
            let dimensions = name.matrix == .magnitude ? 1 : 2
            guard shape.count == dimensions else {
                throw FormatError.badTensor(
                    path: path, tensor: text, field: "dimensions", expected: "\(dimensions)",
                    found: "\(shape.count)")
            }
            if let rank, name.matrix != .magnitude,
                (name.matrix == .a ? shape[0] : shape[1]) != rank
            {
                throw FormatError.wrongShape(
                    path: path, tensor: text,
                    expected: name.matrix == .a ? [rank, shape[1]] : [shape[0], rank],
                    found: shape)
            }
            // No weight that an adapter is added to has more rows or columns.
            guard shape.allSatisfy({ (1...Limits.adapterDimension).contains($0) }) else {
                throw FormatError.badTensor(
                    path: path, tensor: text, field: "dimension",
                    expected: "1 to \(Limits.adapterDimension)", found: "\(shape)")
            }
            names.insert(name)
        }
        guard let first = names.min(by: { $0.text < $1.text }) else {
            throw FormatError.missingTensor(path: path, tensor: "base_model.model.*.lora_A.weight")
        }
        if let name = names.filter({ $0.blocks != first.blocks }).map(\.text).min() {
            throw FormatError.unexpectedTensor(path: path, tensor: name)
        }
        try refuseOverlap(names, path: path)
        let order = Dictionary(
            uniqueKeysWithValues: AdapterTensorName.modules.enumerated().map { ($1, $0) })
        return try names.filter { name in
            // Each module once: at its A, or at its B if that is all there is.
            name.matrix == .a || !names.contains(name.with(.a))
        }.sorted {
            ($0.layer, order[$0.module] ?? 0) < ($1.layer, order[$1.module] ?? 0)
        }.map { name in
            for matrix in AdapterTensorName.Matrix.allCases + (magnitudes ? [.magnitude] : [])
            where !names.contains(name.with(matrix)) {
                throw FormatError.missingTensor(path: path, tensor: name.with(matrix).text)
            }
            let (a, b) = (name.with(.a).text, name.with(.b).text)
            let rank = shapes[a]?.first ?? 0
            if let found = shapes[b], found.last != rank {
                throw FormatError.wrongShape(
                    path: path, tensor: b, expected: [found.first ?? 0, rank], found: found)
            }
            guard rank <= Limits.adapterRank else {
                throw FormatError.badTensor(
                    path: path, tensor: a, field: "rank", expected: "1 to \(Limits.adapterRank)",
                    found: "\(rank)")
            }
            return Module(layer: name.layer, module: name.module, rank: rank, tensor: a)
        }
    }

    /// A module and a part of it would both be added to the part.
    private static func refuseOverlap(_ names: Set<AdapterTensorName>, path: String) throws {
        for name in names.sorted(by: { $0.text < $1.text }) {
            for (fused, parts) in AdapterTensorName.partsOfModules where parts.contains(name.module)
            {
                let whole = AdapterTensorName(
                    layer: name.layer, module: fused, matrix: name.matrix, blocks: name.blocks)
                guard names.contains(whole) else { continue }
                throw FormatError.unexpectedTensor(path: path, tensor: name.text)
            }
        }
    }

    /// The factor of B A x of a module.
    ///
    /// - Parameters:
    ///   - module: one of `modules`.
    ///   - name: its name in the base model.
    ///   - matches: decides on regular expressions.
    /// - Returns: the factor.
    /// - Throws: `FormatError` when a pattern cannot be used, or when the matrices have another rank
    ///   than the configuration says.
    package func scale(
        of module: Module, named name: String, _ matches: AdapterRules.Matching
    ) throws -> Double {
        try scale(rank: module.rank, tensor: module.tensor, named: name, matches)
    }

    /// The same of a module outside the blocks; `edge`: one of `edges`.
    package func scale(
        of edge: Edge, named name: String, _ matches: AdapterRules.Matching
    ) throws -> Double {
        try scale(rank: edge.rank, tensor: edge.tensor, named: name, matches)
    }

    private func scale(
        rank own: Int, tensor: String, named name: String, _ matches: AdapterRules.Matching
    ) throws -> Double {
        switch scale {
        case .same(let scale): return scale
        case .byRank(let alpha): return alpha / Double(own)
        case .configured: break
        }
        let rank = try rules.value(
            of: configuration.rankPattern, "rank_pattern", for: name, matches)
        let stated = rank ?? configuration.rank
        if stated != own {
            let found = shapes[tensor] ?? []
            throw FormatError.wrongShape(
                path: path, tensor: tensor, expected: [stated, found.last ?? 0], found: found)
        }
        let alpha = try rules.value(
            of: configuration.alphaPattern, "alpha_pattern", for: name, matches)
        return configuration.scale(rank: own, alpha: alpha ?? configuration.alpha)
    }
}
