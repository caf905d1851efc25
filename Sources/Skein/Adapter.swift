import SkeinBasics
import SkeinFormats
import SkeinModels

/// A LoRA adapter on disk: a folder of PEFT (which is what a run writes) or of MLX, or a GGUF file.
///
/// Open one to start a run from it, to answer or to measure with it; `Outcome.adapter` is the one
/// that a run has made. Opening reads the whole file once, for its hash. The numbers stay on disk
/// until they are used.
public struct Adapter: Sendable, Equatable {
    /// The adapter's folder or file.
    public let path: String
    /// Rows of every A, columns of every B; if modules have ranks of their own, the largest.
    public let rank: Int
    /// The adapter's output is scaled by `alpha / rank`.
    public let alpha: Double
    /// Names of the adapted projections, such as `q_proj`.
    public let targetModules: [String]
    /// SHA-256 of the file with the weights, `adapter_model.safetensors` in PEFT's folder, in
    /// hexadecimal.
    ///
    /// It does not depend on which machines computed the run, or on how many.
    public let sha256: String

    /// Opens an adapter: reads its files on the calling thread and checks that they match.
    ///
    /// - Parameter path: Its folder or file, or the directory of a run, which means the adapter in it.
    /// - Throws: `SkeinError` if a file is missing or damaged, or holds more than plain LoRA.
    public init(at path: String) throws {
        let path = AdapterFormats.standard.place(path)
        self.path = path
        let summary: AdapterSummary
        (summary, sha256) = try SkeinError.wrapping {
            let weights = try AdapterFormats.standard.weights(of: path)
            // Reads all of it first: an unreadable file is an error here, not a signal later.
            let digest = try RegularFile.digest(of: weights).digest.description
            return (try AdapterSummary(path: path), digest)
        }
        rank = summary.ranks.upperBound
        alpha = summary.configuration.alpha
        targetModules = summary.modules
    }
}
