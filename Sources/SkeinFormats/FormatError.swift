/// A file that violates its format, or that asks for something that Skein does not compute.
///
/// `path` is the file; `field` is the key or header field as spelled in the file; offsets and
/// lengths are in bytes from the start of the file.
package enum FormatError: Error, Equatable {
    /// There is nothing at `path`.
    case notFound(path: String)
    /// `path` is neither a GGUF file nor a folder with a config.json or one split GGUF file.
    case notAModel(path: String)
    /// `path` is no model, but something else of a training.
    case standsForModel(path: String, found: ModelStandIn)
    /// `path` is no adapter in a format that is read; `found`: what is there; `instead`: paths of
    /// adapters that may be meant.
    case notAnAdapter(path: String, found: String, instead: [String] = [])
    /// `path` is a base model, and an adapter was wanted.
    case modelAsAdapter(path: String)
    /// The folder `path` has none of the files `expected`.
    case missingFile(path: String, expected: String)
    /// The first four bytes, as text or hexadecimal digits, are not the format's.
    case badMagic(path: String, expected: String, found: String)
    /// A version of the format that Skein does not read.
    case unsupportedVersion(path: String, found: UInt32)
    /// `field` at `offset` needs `expected` bytes and the file has `found` left.
    case truncated(path: String, offset: Int, field: String, expected: UInt64, found: Int)
    /// `field` states a count or a length above the limit.
    case overLimit(path: String, field: String, limit: UInt64, found: UInt64)
    /// The bytes of `field` at `offset` are not UTF-8.
    case notText(path: String, offset: Int, field: String)
    /// A key or tensor appears twice.
    case duplicate(path: String, name: String)
    /// The file is one part of several, and its name does not lead to the others.
    case splitFile(path: String, parts: UInt64)
    /// A file name in the index leads out of the folder.
    case badShardName(path: String, found: String)

    /// The text is not JSON.
    case badJSON(path: String, reason: String)
    case missingField(path: String, field: String)
    case badField(path: String, field: String, expected: String, found: String)
    /// A field asks for a computation that Skein does not have.
    case unsupported(path: String, field: String, found: String, supported: String)

    /// An element type that Skein does not read, or not as a weight.
    case unsupportedElementType(path: String, tensor: String, found: String)
    /// A tensor's description contradicts the file or itself.
    case badTensor(path: String, tensor: String, field: String, expected: String, found: String)
    case missingTensor(path: String, tensor: String)
    /// A tensor that the model's description does not account for.
    case unexpectedTensor(path: String, tensor: String)
    /// A matrix of a module that the adapter's configuration does not name.
    case unnamedModule(path: String, tensor: String)
    case wrongShape(path: String, tensor: String, expected: [Int], found: [Int])
    /// A weight is NaN or infinite: `value`, in words, in a row and column from 0.
    case notFinite(path: String, tensor: String, row: Int, column: Int, value: String)
}
