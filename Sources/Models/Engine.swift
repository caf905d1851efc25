import Basics
import Tensors

/// What the bits of a gradient depend on besides model, data and configuration.
public enum Engine {
    /// Raised by every change that may give other bits for the same micro-batch.
    public static let version = 3

    /// Engine version, OpenBLAS version and core type, element type and its kernel, and what this C
    /// library makes of a rotary table: machines with equal fingerprints compute equal gradients.
    public static func fingerprint(_ compute: ComputeType) -> String {
        let library = MatMul.libraryConfiguration.split(separator: " ").prefix(2)
            .joined(separator: " ")
        let products =
            switch compute {
            case .fp32: "fp32"
            case .bf16: "bf16 \(PackedMatrix.kernelName)"
            }
        return "skein-engine \(version); \(library) \(MatMul.coreType); \(products); "
            + (isMultiplyAddFused ? "fma; " : "no fma; ") + "rope \(rotaryProbe)"
    }

    /// Power, sine and cosine are the C library's. Rounded to Float they hardly ever differ between
    /// versions; if they do, this differs. 65,536 angles, 2 ms.
    private static let rotaryProbe: String = {
        let probe = RotaryEmbedding(
            headDimension: 128, theta: 100_000, divisors: nil, positions: 1024)
        let digest = probe.table.withUnsafeBytes { SHA256.digest(of: $0) }
        return String(digest.description.prefix(8))
    }()
}
