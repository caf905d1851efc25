import SkeinFormats

/// A tokenizer may have more ids than its model has embeddings, and a model more embeddings than its
/// tokenizer has ids. Only a text that needs an id without an embedding is refused.
extension Tokenizer {
    /// Reads the tokenizer that came with a model, for use with it.
    ///
    /// - Parameters:
    ///   - model: a GGUF file or a Hugging Face folder.
    ///   - count: rows of its embedding.
    /// - Throws: as `init(model:)`.
    package init(model: ModelFiles, embeddings count: Int) throws {
        self = try Tokenizer(model: model).embedded(in: count)
    }

    /// This tokenizer for a model whose embedding has `count` rows; for any model if that is nil.
    package func embedded(in count: Int?) -> Tokenizer {
        var tokenizer = self
        tokenizer.embeddedCount = count ?? .max
        tokenizer.endOfTurnIDs = Self.endOfTurnIDs(endID: endID, in: pieces).filter {
            Int($0) < tokenizer.usableCount
        }
        return tokenizer
    }

    /// Ids below it can be read and written by the model: a sampler's logits and a grammar's masks end
    /// there.
    package var usableCount: Int { min(pieces.count, embeddedCount) }

    /// What a cache of tokens depends on besides `contentDigest`: the rows of the embedding, if they
    /// are fewer than the ids.
    package var fewerEmbeddings: Int? { embeddedCount < pieces.count ? embeddedCount : nil }

    /// Refuses tokens that the model has no embedding for.
    ///
    /// - Throws: `TokenizerError.noEmbedding` for the first of them.
    package func check(_ ids: [Int32]) throws(TokenizerError) {
        guard embeddedCount < pieces.count,
            let id = ids.first(where: { Int($0) >= embeddedCount })
        else { return }
        throw .noEmbedding(piece: piece(id) ?? "", id: Int(id), rows: embeddedCount)
    }
}
