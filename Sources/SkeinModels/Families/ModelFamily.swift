/// Models that are built alike: their names in files, and how their blocks differ from others.
///
/// Only data. What a family computes is written once, in the engine, which reads the design: a
/// family with a pass of its own would need a backward pass of its own.
package protocol ModelFamily: Sendable {
    /// Its names in config.json's `model_type`.
    var modelTypes: [String] { get }
    /// nil: its GGUF files use another family's name.
    var gguf: GGUFLayout? { get }
    /// Added to the weights of norms as stored in a folder. A GGUF file may store the sum.
    var folderNormOffset: Float { get }

    /// What a model of these sizes computes.
    func design(of model: ModelConfiguration) -> DecoderDesign
}

extension ModelFamily {
    package var folderNormOffset: Float { 0 }
}

/// How GGUF files name and order a family's tensors.
package struct GGUFLayout: Sendable {
    /// Its names in `general.architecture`; its keys begin with them, too.
    package var architectures: [String]
    /// Tensors outside the blocks, and their names in the folder.
    package var names: [String: String]
    /// Tensors of block 3, without "blk.3.", and their folder names after the block's prefix.
    package var namesInBlock: [Substring: String]
    /// Those whose rows are in the order for rotation of neighbours.
    package var interleaved: Set<Substring>
    /// Added to the weights of norms as stored in the file.
    package var normOffset: Float = 0

    /// A tensor's folder name, and whether its rows are interleaved; nil: there is no such tensor.
    package func tensor(
        _ name: String, in design: DecoderDesign
    ) -> (name: String, isInterleaved: Bool)? {
        if let match = names[name] { return (match, false) }
        let parts = name.split(separator: ".", maxSplits: 2)
        // The index must be spelled like a number: "blk.01" is not "blk.1".
        guard parts.count == 3, parts[0] == "blk", let layer = Int(parts[1]), layer >= 0,
            String(layer) == parts[1], let part = namesInBlock[parts[2]]
        else { return nil }
        return (design.tensor(part, in: layer), interleaved.contains(parts[2]))
    }
}
