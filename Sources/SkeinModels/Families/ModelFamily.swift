/// Models that are built alike: their names in files, and how their blocks differ from others.
///
/// Only data. What a family computes is written once, in the engine, which reads the design: a
/// family with a pass of its own would need a backward pass of its own.
package protocol ModelFamily: Sendable {
    /// Its names in config.json's `model_type`.
    var modelTypes: [String] { get }
    /// Names of models that see, too, and hold a model of this family in `text_config`.
    var multimodalTypes: [String] { get }
    /// nil: its GGUF files use another family's name.
    var gguf: GGUFLayout? { get }
    /// Added to the weights of norms as stored in a folder. A GGUF file may store the sum.
    var folderNormOffset: Float { get }
    /// How the GGUF files of its models name tensors, whichever family they are read as; nil: there
    /// are no such files.
    var adapterLayout: GGUFLayout? { get }
    var files: FileTraits { get }

    /// What a model of these sizes computes.
    func design(of model: ModelConfiguration) -> DecoderDesign
}

extension ModelFamily {
    package var multimodalTypes: [String] { [] }
    package var folderNormOffset: Float { 0 }
    package var adapterLayout: GGUFLayout? { gguf }
    package var files: FileTraits { FileTraits() }
}
