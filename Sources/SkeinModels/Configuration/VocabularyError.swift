import SkeinBasics

/// A tokenizer that does not belong to the model beside it.
package enum VocabularyError: Error, Equatable {
    /// The tokenizer has `tokenizer` ids, but the model embeds only `model`.
    case tooLarge(tokenizer: Int, model: Int, path: String)

    /// Makes sure that every id has a row in the embedding, so that no token reads beyond it.
    ///
    /// - Parameters:
    ///   - count: how many ids the tokenizer has (`vocabularySize`).
    ///   - model: that embeds them.
    /// - Throws: `VocabularyError.tooLarge`.
    package static func check(ids count: Int, against model: ModelDirectory) throws(VocabularyError)
    {
        let rows = model.configuration.vocabularySize
        guard count <= rows else {
            throw .tooLarge(tokenizer: count, model: rows, path: model.path)
        }
    }
}

extension VocabularyError: Explained {
    package var explanation: Explanation {
        switch self {
        case .tooLarge(let tokenizer, let model, let path):
            Explanation(
                what: "the tokenizer has \(tokenizer) ids, the model embeds \(model)",
                place: path, remedy: "use the tokenizer that came with the model",
                status: .badData)
        }
    }
}
