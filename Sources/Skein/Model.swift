import SkeinFormats
import SkeinModels

/// A base model on disk, opened and checked. Its weights stay there until something computes.
public struct Model: Sendable {
    package let directory: ModelDirectory

    /// Opens a model: maps its files and reads their headers on the calling thread.
    ///
    /// - Parameter path: a GGUF file or a Hugging Face folder.
    /// - Throws: `SkeinError` when a file is missing or damaged, or is of a kind that Skein does not
    ///   compute.
    public init(at path: String) throws {
        directory = try SkeinError.wrapping { try ModelDirectory.open(path) }
    }

    /// As given to `init`.
    public var path: String { directory.path }
    /// Decoder blocks.
    public var layerCount: Int { directory.configuration.layerCount }
    /// Tokens of the vocabulary.
    public var vocabularySize: Int { directory.configuration.vocabularySize }
    /// Positions that the model was made for.
    public var contextLength: Int { directory.configuration.contextLength }
    /// Number of parameters.
    public var parameterCount: Int { directory.configuration.parameterCount }
}
