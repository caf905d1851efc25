import SkeinBasics

/// Why a base model and an adapter are not written as one model.
package enum FuseError: Error, Equatable {
    case outputExists(path: String)
    /// The output would be a file of one of the inputs' folders.
    case insideInput(path: String, input: String)
    /// A number that the type does not have: NaN, infinite, or too large.
    case notFinite(tensor: String, row: Int, type: String)
    /// A tensor of the base that cannot be carried over.
    case otherTensor(name: String, type: String)
    /// A file of this format is not written for the model.
    case noConversion(what: String, found: String, format: String)
    /// The model's head is its embedding: with an adapter of one of them they would be two.
    ///
    /// `module`: the adapted one.
    case tiedEdge(module: String)
    /// A type that a format does not have.
    case typeOfFormat(type: String, format: String, supported: [String])
    /// What was written is not read as it should be.
    case readBack(path: String, what: String)
    /// The base and the adapter have infinite logits, or none.
    case notFiniteLogits(path: String)
    /// Stopped by a signal; nothing was left.
    case interrupted(path: String)
    /// Stopped by a signal after all was written.
    case notCompared(path: String)
}

extension FuseError: Explained {
    package var explanation: Explanation {
        switch self {
        case .outputExists(let path):
            Explanation(
                what: "the output exists", place: path,
                remedy: "give another --output, or remove it", status: .usage)
        case .insideInput(let path, let input):
            Explanation(
                what: "the output would be inside of \(input), which is read", place: path,
                remedy: "give an --output elsewhere", status: .usage)
        case .notFinite(let tensor, let row, let type):
            Explanation(
                what: "the tensor '\(tensor)' has a number in row \(row) that \(type) cannot hold",
                remedy: "check the adapter (skein inspect), or use --type F32 or BF16",
                status: .badData)
        case .otherTensor(let name, let type):
            Explanation(
                what: "the tensor '\(name)' has the type \(type), which cannot be carried over",
                remedy: "use a base model without it", status: .badData)
        case .noConversion(let what, let found, let format):
            Explanation(
                what: "\(what) '\(found)' cannot be written as \(format)",
                remedy: "use the base model's own format: --format "
                    + (format == "GGUF" ? "hf" : "gguf"), status: .badData)
        case .tiedEdge(let module):
            Explanation(
                what: "the model's head is its embedding, and with the adapter of \(module) the "
                    + "two differ: one tensor cannot be both", place: module,
                remedy: "use base model and adapter side by side, or an adapter of a model with a "
                    + "head of its own", status: .badData)
        case .typeOfFormat(let type, let format, let supported):
            Explanation(
                what: "\(format) has no type \(type)",
                remedy: "give --type " + supported.joined(separator: ", ")
                    + ", or an --output that ends in .gguf, which has more types", status: .usage)
        case .readBack(let path, let what):
            Explanation(
                what: "the model that was written is not the one that was meant: \(what)",
                place: path, remedy: "report it with the base model's name",
                status: .internalError)
        case .notFiniteLogits(let path):
            Explanation(
                what: "the logits of base and adapter are not finite, and so are those of the "
                    + "model that was written", place: path,
                remedy: "check the adapter's numbers and alpha (skein inspect)", status: .badData)
        case .notCompared(let path):
            Explanation(
                what: "interrupted; the model is written, and its logits were not compared",
                place: path, remedy: "compare it with skein evaluate", status: .interrupted)
        case .interrupted(let path):
            Explanation(
                what: "interrupted; nothing was written", place: path,
                remedy: "run the same command again", status: .interrupted)
        }
    }
}
