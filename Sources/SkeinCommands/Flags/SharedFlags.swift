import SkeinBasics
import SkeinJSON
import SkeinTraining

/// Options that several commands share.
package enum SharedFlags {
    static let model = Option.required(
        "model", .path(),
        "base model: a GGUF file, a Hugging Face folder, or ORG/NAME[@revision][:file.gguf] of the "
            + "Hub")
    static let adapter = Option.optional(
        "adapter", .path(),
        "adapter of the base model: a run's folder, a PEFT or MLX folder, a GGUF file, or "
            + "ORG/NAME[@revision][:file.gguf] of the Hub")
    static let anyBase = Option.flag(
        "any-base", "take an adapter that was made for another base model, if its shapes fit")
    static let threads = MachineOptions.table.threads
    static let weights = MachineOptions.table.weights
    static let logFormat = MachineOptions.table.logFormat
    /// What a computer of gradients keeps on its disk.
    static let features = [
        MachineOptions.table.reuseFeatures.description, MachineOptions.table.featureDir.description,
        MachineOptions.table.featureDisk.description,
    ]
    package static let json = Option.flag("json", "print the result as JSON")

    /// The options of a command that computes.
    static let machine = OptionGroup(
        title: "machine",
        options: [threads.description, weights.description, logFormat.description])
}

extension ValueFormat where Value == UInt64 {
    /// A seed of at most 63 bits, so that JSON readers keep it.
    package static var seed: ValueFormat {
        ValueFormat(
            placeholder: "N", accepted: "a whole number from 0 to \(Int.max)",
            read: { Int($0).flatMap { UInt64(exactly: $0) } }, json: { .integer(Int($0)) })
    }
}
