import SkeinFormats

/// A model whose weights a decoder can take: sizes, design, and the tensors that the design asks for.
package protocol WeightSource: Sendable {
    var configuration: ModelConfiguration { get }
    /// For errors.
    var path: String { get }

    /// The weight with this Hugging Face name.
    ///
    /// - Throws: `FormatError.missingTensor`.
    func tensor(_ name: String) throws -> TensorView

    /// Tells the system that pages of mapped files are not needed for a while.
    func releasePages()
}

extension ModelDirectory: WeightSource {}
