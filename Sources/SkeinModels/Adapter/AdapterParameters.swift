import SkeinBasics
import SkeinFormats

/// The trained numbers: one flat vector of all LoRA matrices, laid out by an `AdapterShape`.
package struct AdapterParameters: Sendable {
    package let shape: AdapterShape
    package var values: [Float]

    /// A from Kaiming uniform with a = sqrt(5), which is U(-1/sqrt(in), 1/sqrt(in)); B zero, as PEFT
    /// starts. Each number is addressed by (seed, layer, projection's address, index), so it does not
    /// depend on which other projections are adapted. Magnitudes are the lengths of the weight's rows,
    /// so that an adapter begins by changing nothing. The embedding's A is zero and its B is drawn
    /// from the standard normal distribution, as in PEFT: a token's row of A is all that its place
    /// learns at first.
    ///
    /// `base`: of the base model, for a shape with magnitudes.
    package init(shape: AdapterShape, seed: UInt64, base: BaseNorms? = nil) {
        self.shape = shape
        MemoryShortage.check(floats: shape.layout.count, for: "the adapter")
        values = [Float](repeating: 0, count: shape.layout.count)
        let random = AddressedRandom(seed: seed, purpose: .adapterInitialization)
        for (layer, pairs) in shape.pairs.enumerated() {
            for (index, pair) in pairs.enumerated() {
                guard let pair, let magnitude = pair.magnitude else { continue }
                guard let norms = base?.norms(layer, index) else {
                    preconditionFailure("magnitudes begin as norms of the base model's rows")
                }
                for i in 0..<pair.outputs { values[magnitude + i] = norms[i] }
            }
            for case let pair? in pairs where !pair.sharesA {
                let bound = 1 / Float(pair.inputs).squareRoot()
                for i in 0..<(pair.rank * pair.inputs) {
                    let words = random.block(UInt32(i / 4), UInt32(layer), UInt32(pair.address))
                    let unit = AddressedRandom.unitFloat(words[i % 4])
                    values[pair.a + i] = (2 * unit - 1) * bound
                }
            }
        }
        // The layer after the last.
        let layer = UInt32(shape.pairs.count)
        if let head = shape.head {
            let bound = 1 / Float(head.inputs).squareRoot()
            for i in 0..<(head.rank * head.inputs) {
                let words = random.block(UInt32(i / 4), layer, UInt32(head.address))
                values[head.a + i] = (2 * AddressedRandom.unitFloat(words[i % 4]) - 1) * bound
            }
        }
        if let embedding = shape.embedding {
            for i in 0..<(embedding.outputs * embedding.rank) {
                let words = random.block(UInt32(i / 4), layer, UInt32(embedding.address))
                values[embedding.b + i] = AddressedRandom.normal(words[i % 4])
            }
        }
    }

    /// `values`: as many as the shape's layout has.
    package init(shape: AdapterShape, values: [Float]) {
        precondition(values.count == shape.layout.count, "numbers of another adapter")
        self.shape = shape
        self.values = values
    }

    /// The matrices of an adapter, whichever projections they adapt.
    ///
    /// - Parameters:
    ///   - files: the adapter's.
    ///   - model: the base model.
    ///   - matches: decides on regular expressions for names of modules.
    /// - Throws: `AdapterError`; `FormatError` when they do not fit `model`.
    package init(
        files: AdapterFiles, model: ModelConfiguration, matching matches: AdapterRules.Matching
    ) throws {
        let lora = try files.outline.lora(for: model, matching: matches)
        let files = files.renamed(model.adapterNames)
        self.shape = AdapterShape(lora, model: model)
        do throws(LayoutProblem) {
            try shape.layout.check(files.outline.shapes)
            values = try shape.layout.flatten(files.tensors)
        } catch {
            throw AdapterError(error)
        }
        // Whatever is computed with it would be NaN.
        if let index = values.firstIndex(where: { !$0.isFinite }),
            let entry = shape.layout.entries.first(where: { $0.range.contains(index) })
        {
            throw AdapterError.notFinite(name: entry.name)
        }
    }
}

extension AdapterParameters {
    /// What is added to one weight: scale * B A.
    package struct Weight: Sendable {
        /// The weight's name: "model.layers.0.self_attn.q_proj.weight".
        package let name: String
        package let inputs: Int
        package let outputs: Int
        package let rank: Int
        package let scale: Float
        /// [rank, inputs].
        package let a: ArraySlice<Float>
        /// [outputs, rank].
        package let b: ArraySlice<Float>
    }

    /// The modules that are adapted, in the order of the flat vector: a fused module is one.
    package var weights: [Weight] {
        stride(from: 0, to: shape.layout.entries.count, by: shape.tensorsPerModule).map { index in
            let (a, b) = (shape.layout.entries[index], shape.layout.entries[index + 1])
            let pair =
                shape.pairs.joined().lazy.compactMap { $0 }.first { $0.a == a.offset }
                ?? shape.edges.first { $0.a == a.offset }
            return Weight(
                name: AdapterTensorName(a.name)?.weightName ?? EdgeTensorName(a.name)?.weightName
                    ?? a.name,
                inputs: a.shape[1],
                outputs: b.shape[0], rank: a.shape[0], scale: pair?.scale ?? 0,
                a: values[a.range], b: values[b.range])
        }
    }

    /// The same adapter of whole modules, where all slices of a module have one A, rank and scale: other
    /// formats have names for the slices alone.
    package func joiningSlices(of model: ModelConfiguration) -> AdapterParameters {
        var found: [LoRAConfiguration.Place: LoRAConfiguration.Strength] = [:]
        let own = shape.configuration
        var isJoined = false
        for (layer, block) in model.design.blocks.enumerated() {
            for target in block.targets {
                found[.init(layer: layer, module: target)] = own.strength(of: target, in: layer)
            }
            for fused in TargetModule.fused where shareA(fused, in: layer, block) {
                for part in fused.parts {
                    found[.init(layer: layer, module: fused)] = own.strength(of: part, in: layer)
                    found[.init(layer: layer, module: part)] = nil
                }
                isJoined = true
            }
        }
        for edge in TargetModule.edges { found[.init(edge: edge)] = own.strength(ofEdge: edge) }
        guard isJoined else { return self }
        let lora = LoRAConfiguration(
            found, dropout: own.dropout, usesMagnitudes: own.usesMagnitudes)
        let joined = AdapterShape(lora, model: model)
        var out = [Float](repeating: 0, count: joined.layout.count)
        let places = zip(
            shape.pairs.joined() + [shape.embedding, shape.head],
            joined.pairs.joined() + [joined.embedding, joined.head])
        for (own, other) in places {
            guard let own, let other else { continue }
            let (a, b) = (own.rank * own.inputs, own.rank * own.outputs)
            out.replaceSubrange(other.a..<(other.a + a), with: values[own.a..<(own.a + a)])
            out.replaceSubrange(other.b..<(other.b + b), with: values[own.b..<(own.b + b)])
            if let from = own.magnitude, let to = other.magnitude {
                out.replaceSubrange(
                    to..<(to + own.outputs), with: values[from..<(from + own.outputs)])
            }
        }
        return AdapterParameters(shape: joined, values: out)
    }

    /// Whether the projections that a module holds are slices of one tensor, adapted alike with one A.
    private func shareA(_ fused: TargetModule, in layer: Int, _ block: BlockDesign) -> Bool {
        let pairs = fused.parts.compactMap { shape.pair($0, in: layer) }
        guard block.targets.contains(fused), pairs.count == fused.parts.count,
            let first = pairs.first, !first.sharesA
        else { return false }
        return pairs.dropFirst().allSatisfy { other in
            guard !other.sharesA, (other.rank, other.scale) == (first.rank, first.scale) else {
                return false
            }
            let count = first.rank * first.inputs
            return zip(values[first.a..<(first.a + count)], values[other.a..<(other.a + count)])
                .allSatisfy { $0.bitPattern == $1.bitPattern }
        }
    }

    /// The same numbers as those of a run, whose adapter has `shape`, or is written for others as
    /// `export` says.
    ///
    /// - Throws: `AdapterError` when the run adapts other modules, or with another rank or scale.
    package func fitted(
        to own: AdapterShape, _ export: FusedExport?
    ) throws(AdapterError) -> AdapterParameters {
        guard shape.configuration.exceptions.isEmpty || !own.configuration.exceptions.isEmpty else {
            throw .uneven
        }
        // An adapter of slices may come as slices or as one of whole modules.
        if let export, shape.layout != own.layout {
            try export.shape.admit(shape)
            return AdapterParameters(shape: own, values: try export.restored(values))
        }
        try own.admit(shape)
        return AdapterParameters(shape: own, values: values)
    }
}

extension AdapterShape {
    /// Refuses an adapter with other matrices or another scale.
    fileprivate func admit(_ other: AdapterShape) throws(AdapterError) {
        guard other.configuration.usesMagnitudes == configuration.usesMagnitudes else {
            throw .magnitudes(run: configuration.usesMagnitudes)
        }
        let isEven = configuration.exceptions.isEmpty && other.configuration.exceptions.isEmpty
        guard !isEven || other.configuration.scale == configuration.scale else {
            throw .scale(expected: configuration.scale, found: other.configuration.scale)
        }
        var shapes: [String: [Int]] = [:]
        for entry in other.layout.entries { shapes[entry.name] = entry.shape }
        do throws(LayoutProblem) {
            try layout.check(shapes)
        } catch {
            throw AdapterError(error)
        }
        let places = zip(
            pairs.joined() + [embedding, head],
            other.pairs.joined() + [other.embedding, other.head])
        for (own, found) in places {
            guard let own, let found, own.scale != found.scale else { continue }
            throw .scale(expected: own.scale, found: found.scale)
        }
    }
}
