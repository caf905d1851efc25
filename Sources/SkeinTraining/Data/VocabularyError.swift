import SkeinBasics
import SkeinModels
import SkeinText

/// A tokenizer that does not belong to the model beside it.
package enum VocabularyError: Error, Equatable {
    /// The tokenizer has `tokenizer` ids, but the model embeds only `model`.
    case tooLarge(tokenizer: Int, model: Int, path: String)

    /// Makes sure that every id has a row in the embedding, so that no token reads beyond it.
    ///
    /// - Throws: `VocabularyError.tooLarge`.
    package static func check(_ tokenizer: Tokenizer, against model: ModelDirectory) throws {
        let rows = model.configuration.vocabularySize
        guard tokenizer.vocabularySize <= rows else {
            throw VocabularyError.tooLarge(
                tokenizer: tokenizer.vocabularySize, model: rows, path: model.path)
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
