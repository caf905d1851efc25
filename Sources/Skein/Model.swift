import SkeinFormats
import SkeinModels

/// A base model on disk, opened and checked: a GGUF file or a Hugging Face folder.
///
/// Opening maps the files and reads their headers; the weights stay on disk until something
/// computes. Each run, measurement or generator that gets the value then loads them for itself.
public struct Model: Sendable {
    package let directory: ModelDirectory

    /// Opens a model: maps its files and reads their headers on the calling thread.
    ///
    /// - Parameter path: A GGUF file or a Hugging Face folder.
    /// - Throws: `SkeinError` if a file is missing or damaged, or if Skein does not support this
    ///   kind of model.
    public init(at path: String) throws {
        directory = try SkeinError.wrapping { try ModelDirectory.open(path) }
    }

    /// The path given to `init`.
    public var path: String { directory.path }
    /// Number of decoder blocks.
    public var layerCount: Int { directory.configuration.layerCount }
    /// Number of tokens in the vocabulary.
    public var vocabularySize: Int { directory.configuration.vocabularySize }
    /// Most tokens of a sequence that the model was made for.
    public var contextLength: Int { directory.configuration.contextLength }
    /// Number of parameters.
    public var parameterCount: Int { directory.configuration.parameterCount }
}
