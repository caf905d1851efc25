import Basics
import Tensors

/// What the bits of a gradient depend on besides model, data and configuration.
public enum Engine {
    /// Raised by every change that may give other bits for the same micro-batch.
    public static let version = 2

    /// Engine version, OpenBLAS version and core type, element type: machines with equal
    /// fingerprints compute equal gradients.
    public static var fingerprint: String {
        let library = MatMul.libraryConfiguration.split(separator: " ").prefix(2)
            .joined(separator: " ")
        return "skein-engine \(version); \(library) \(MatMul.coreType); fp32"
    }
}
