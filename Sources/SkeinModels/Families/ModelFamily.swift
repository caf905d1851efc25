/// Models that are built alike: what their files call things, and how their blocks differ from others.
///
/// Data alone. What a family computes stands once, in the engine, which reads the design: a family with
/// a pass of its own would need a backward pass of its own.
package protocol ModelFamily: Sendable {
    /// What config.json's `model_type` calls it.
    var modelTypes: [String] { get }
    /// nil: GGUF files have it under another family's name.
    var gguf: GGUFLayout? { get }
    /// Added to the weights of norms as a folder stores them. A GGUF file may store the sum.
    var folderNormOffset: Float { get }
    var text: TextTraits { get }

    /// What a model of these sizes computes.
    func design(of model: ModelConfiguration) -> DecoderDesign
}

extension ModelFamily {
    package var folderNormOffset: Float { 0 }
    package var text: TextTraits { TextTraits() }
}

/// How GGUF files name and order a family's tensors.
package struct GGUFLayout: Sendable {
    /// What `general.architecture` calls it; also what its keys begin with.
    package var architectures: [String]
    /// Tensors outside the blocks, and what the folder calls them.
    package var names: [String: String]
    /// Tensors of block 3, without "blk.3.", and what the folder calls them after the block's prefix.
    package var namesInBlock: [Substring: String]
    /// Those of them whose rows lie in the order for rotation of neighbours.
    package var interleaved: Set<Substring>
    /// Added to the weights of norms as the file stores them.
    package var normOffset: Float = 0

    /// The folder's name of a tensor, and whether its rows are interleaved; nil: there is no such tensor.
    package func tensor(
        _ name: String, in design: DecoderDesign
    ) -> (name: String, isInterleaved: Bool)? {
        if let match = names[name] { return (match, false) }
        let parts = name.split(separator: ".", maxSplits: 2)
        // The index must be spelled as a number is: "blk.01" is another name than "blk.1".
        guard parts.count == 3, parts[0] == "blk", let layer = Int(parts[1]), layer >= 0,
            String(layer) == parts[1], let part = namesInBlock[parts[2]]
        else { return nil }
        return (design.tensor(part, in: layer), interleaved.contains(parts[2]))
    }
}

/// What a family's tokenizers and chat templates do that their files do not say.
package struct TextTraits: Sendable, Equatable {
    /// Text is brought to Unicode's form NFC first, also where a GGUF file has no word for it.
    package var composesCharacters = false
    /// The template renders an earlier turn otherwise than a last one, so a conversation's tokens do not
    /// begin with those of a part of it.
    package var rewritesEarlierTurns = false
}
