import SkeinBasics
import SkeinFormats

/// A LoRA adapter on disk, in PEFT's form: `adapter_config.json` and `adapter_model.safetensors`.
public struct Adapter: Sendable, Equatable {
    public let path: String
    /// Rows of every A, columns of every B.
    public let rank: Int
    public let alpha: Double
    /// Names of the adapted projections, such as `q_proj`.
    public let targetModules: [String]
    /// SHA-256 of `adapter_model.safetensors`, in hexadecimal: what does not depend on who computed
    /// the run.
    public let sha256: String

    /// Opens an adapter and checks that its two files belong together. Reads both on the calling thread.
    ///
    /// - Throws: `SkeinError` when a file is missing, damaged, or holds more than plain LoRA.
    public init(at path: String) throws {
        self.path = path
        let configuration: AdapterConfiguration
        (configuration, sha256) = try SkeinError.wrapping {
            let weights = FilePath.join(path, AdapterFiles.weightsName)
            // First as a whole: a file that cannot be read is an error here and no signal later.
            let digest = try RegularFile.digest(of: weights).digest.description
            return (try AdapterFiles.map(path).configuration, digest)
        }
        rank = configuration.rank
        alpha = configuration.alpha
        targetModules = configuration.targetModules
    }
}
