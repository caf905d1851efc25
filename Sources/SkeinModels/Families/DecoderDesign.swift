/// How a decoder computes, apart from its sizes: what its blocks share, and each block's own.
package struct DecoderDesign: Sendable, Equatable {
    /// The names of tensors, as in the Hugging Face folder.
    package struct Names: Sendable, Equatable {
        package var embedding = "model.embed_tokens.weight"
        package var finalNorm = "model.norm.weight"
        /// Absent when the embedding is the head.
        package var head = "lm_head.weight"
        /// The prefix of block 3 is this, "3" and a dot.
        package var blocks = "model.layers."
    }

    /// The angles by which q and k are rotated.
    package struct RotaryTable: Sendable, Equatable {
        /// At least 1.
        package var theta: Double
        /// [dimension / 2], at least 1/4; nil: none.
        package var divisors: [Float]?
        /// The divisors for rows of more than `longFrom` tokens; nil: `divisors`.
        package var longDivisors: [Float]?
        package var longFrom = Int.max
        /// Factor of cosines and sines.
        package var attentionFactor: Float = 1
        /// How many elements of a head are rotated, from the first.
        package var dimension: Int
    }

    package var names = Names()
    /// Added to every stored weight of a norm.
    package var normOffset: Float = 0
    /// Factor of the tokens' embeddings.
    package var embeddingMultiplier: Float = 1
    /// Factor of the logits.
    package var logitsMultiplier: Float = 1
    /// c: a logit z becomes c tanh(z / c), after the factor; nil: it stays.
    package var logitsSoftCap: Float?
    package var rotaryTables: [RotaryTable] = []
    /// One for each layer.
    package var blocks: [BlockDesign] = []

    /// A tensor of a block: `name` with the block's prefix.
    package func tensor(_ name: String, in layer: Int) -> String {
        "\(names.blocks)\(layer).\(name)"
    }
}

extension ModelConfiguration {
    /// Every tensor that the model needs, with its row-major shape, in the order of computation.
    package var requiredTensors: [(name: String, shape: [Int])] {
        var tensors = [(design.names.embedding, [vocabularySize, width])]
        for (layer, block) in design.blocks.enumerated() {
            tensors += tensorsOfBlock(block).map { (design.tensor($0.name, in: layer), $0.shape) }
        }
        tensors.append((design.names.finalNorm, [width]))
        if !tiedEmbeddings { tensors.append((design.names.head, [vocabularySize, width])) }
        return tensors
    }

    private func tensorsOfBlock(_ block: BlockDesign) -> [(name: String, shape: [Int])] {
        func norm(_ name: String?) -> [(String, [Int])] {
            name.map { [($0 + ".weight", [width])] } ?? []
        }
        func matrices(_ isWanted: (TargetModule) -> Bool) -> [(String, [Int])] {
            var known: Set<String> = []
            return block.projections.filter {
                isWanted($0.module) && known.insert($0.tensor).inserted
            }.flatMap { projection in
                let outputs = block.rows(ofFused: projection.tensor)
                return [(projection.tensor + ".weight", [outputs, projection.inputs])]
                    + (projection.hasBias ? [(projection.tensor + ".bias", [outputs])] : [])
            }
        }
        let headNorms = block.headNorms.map { norms in
            let heads = norms.extent == .head ? (1, 1) : (headCount, keyValueHeadCount)
            return [
                (norms.query + ".weight", [heads.0 * headDimension]),
                (norms.key + ".weight", [heads.1 * headDimension]),
            ]
        }
        return norm(block.norms.beforeAttention) + matrices { $0 < .gate } + (headNorms ?? [])
            + norm(block.norms.afterAttention) + norm(block.norms.beforeFeedForward)
            + matrices { $0 >= .gate } + norm(block.norms.afterFeedForward)
    }
}
