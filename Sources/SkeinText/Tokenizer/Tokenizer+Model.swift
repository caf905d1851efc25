import SkeinFormats

extension Tokenizer {
    /// Reads the tokenizer that came with a model.
    ///
    /// - Parameter model: a GGUF file or a Hugging Face folder.
    /// - Throws: `TokenizerError` when there is none, when it is damaged or of an unsupported kind;
    ///   `FileError`.
    package init(model: ModelFiles) throws {
        switch model.tokenizerSource {
        case .gguf(let metadata): try self.init(ggufMetadata: metadata)
        case .files(let tokenizerJSON, let tokenizerConfig):
            try self.init(tokenizerJSON: tokenizerJSON, tokenizerConfig: tokenizerConfig)
        case nil: throw TokenizerError.missing(model: model.path)
        }
    }
}
