import SkeinBasics
import SkeinFormats

/// A LoRA adapter on disk, in PEFT's format: `adapter_config.json` and `adapter_model.safetensors`.
public struct Adapter: Sendable, Equatable {
    /// The adapter's folder.
    public let path: String
    /// Rows of every A, columns of every B.
    public let rank: Int
    /// The adapter's output is scaled by `alpha / rank`.
    public let alpha: Double
    /// Names of the adapted projections, such as `q_proj`.
    public let targetModules: [String]
    /// SHA-256 of `adapter_model.safetensors`, in hexadecimal.
    ///
    /// It does not depend on which machines computed the run, or on how many.
    public let sha256: String

    /// Opens an adapter: reads its two files on the calling thread and checks that they match.
    ///
    /// - Throws: `SkeinError` if a file is missing or damaged, or holds more than plain LoRA.
    public init(at path: String) throws {
        self.path = path
        let configuration: AdapterConfiguration
        (configuration, sha256) = try SkeinError.wrapping {
            let weights = FilePath.join(path, AdapterFiles.weightsName)
            // Reads all of it first: an unreadable file is an error here, not a signal later.
            let digest = try RegularFile.digest(of: weights).digest.description
            return (try AdapterFiles.map(path).configuration, digest)
        }
        rank = configuration.rank
        alpha = configuration.alpha
        targetModules = configuration.targetModules
    }
}
