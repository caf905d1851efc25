/// The adapter of slices of fused modules, as one adapter of each module: what PEFT, which knows
/// the modules alone, can load.
///
/// With n slices of rank R adapted, the module's A is theirs one below the other, [n R, in], and its
/// B has theirs on the block diagonal, [out, n R]. All modules get the same rank, n being that of
/// the module with the most: a file then needs no pattern of ranks. Rows of A and columns of B that
/// no slice fills are zero. The scale stays: alpha grows as the rank does.
package struct FusedExport: Sendable {
    /// What is in the file.
    package let shape: AdapterShape
    /// n.
    package let multiplier: Int
    private let own: AdapterShape

    /// nil when no slice of a fused module is adapted: then the adapter is exported as it is.
    package init?(_ own: AdapterShape, model: ModelConfiguration) {
        let lora = own.configuration
        var counts: [Int] = []
        var targets = Set(lora.targets)
        for fused in TargetModule.fused {
            let slices = model.design.blocks[lora.layers].first.map { block in
                block.projections.filter { projection in
                    projection.fused != nil && fused.parts.contains(projection.module)
                        && lora.targets.contains(projection.module)
                }
            }
            guard let slices, !slices.isEmpty else { continue }
            counts.append(slices.count)
            targets.subtract(slices.map(\.module))
            targets.insert(fused)
        }
        guard let multiplier = counts.max() else { return nil }
        self.own = own
        self.multiplier = multiplier
        shape = AdapterShape(
            LoRAConfiguration(
                rank: multiplier * lora.rank, scale: lora.scale, dropout: lora.dropout,
                targets: Array(targets), layers: lora.layers),
            model: model)
    }

    /// The numbers of the file from the run's.
    package func exported(_ values: [Float]) -> [Float] {
        var out = [Float](repeating: 0, count: shape.layout.count)
        forEachNumber { own, file in out[file] = values[own] }
        return out
    }

    /// The run's numbers from the file's.
    ///
    /// - Throws: `AdapterError.notBlockDiagonal` when a number is lost on the way.
    package func restored(_ values: [Float]) throws(AdapterError) -> [Float] {
        var out = [Float](repeating: 0, count: own.layout.count)
        var rest = values
        forEachNumber { own, file in
            out[own] = values[file]
            rest[file] = 0
        }
        guard rest.allSatisfy({ $0 == 0 }) else { throw .notBlockDiagonal }
        return out
    }

    /// Calls `body` with the place of each number of the run in its vector and in the file's.
    private func forEachNumber(_ body: (_ own: Int, _ file: Int) -> Void) {
        let rank = own.configuration.rank
        let wide = shape.configuration.rank
        let edges = ([own.embedding, own.head], [shape.embedding, shape.head])
        for (pairs, fused) in zip(own.pairs + [edges.0], shape.pairs + [edges.1]) {
            // Slices of one module have one A in the file; each takes the rows after the one before.
            // Those of a module that is adapted as a whole have one A in the run, too: one place.
            var taken: [Int: Int] = [:]
            var places: [Int: Int] = [:]
            for case (let pair?, let module?) in zip(pairs, fused) {
                let first = places[pair.a] ?? taken[module.a, default: 0]
                places[pair.a] = first
                taken[module.a] = first + rank
                for i in 0..<(rank * pair.inputs) {
                    body(pair.a + i, module.a + first * pair.inputs + i)
                }
                for row in 0..<pair.outputs {
                    for column in 0..<rank {
                        body(
                            pair.b + row * rank + column, module.b + row * wide + first + column)
                    }
                }
            }
        }
    }
}
