import SkeinBasics
import SkeinTensors
import Synchronization

/// What the bits of a gradient depend on besides model, data and configuration.
package enum Engine {
    /// Raised by every change that may give other bits for the same micro-batch.
    package static let version = 4

    /// Engine version, compute and, where they change the bits, what its products run on, whether
    /// multiply-adds are fused, and the arithmetic of rotary tables: machines with equal
    /// fingerprints compute equal gradients.
    ///
    /// A model whose rotation was once read differently is named with the factor that is read now:
    /// its gradients changed, the arithmetic did not. `version` stays because of all other models.
    ///
    /// - Parameters:
    ///   - compute: the run's.
    ///   - model: nil for one that states nothing unusual.
    /// - Returns: fewer than 256 bytes.
    package static func fingerprint(
        _ compute: ComputeType, of model: ModelConfiguration? = nil
    ) -> String {
        let products =
            switch compute {
            case .fp32 where MatMul.isOwn: "fp32"
            case .fp32: "fp32 \(library)"
            case .bf16: "bf16 \(PackedMatrix.kernelName)"
            // Numbers that share a scale.
            case .int8: "int8 by 128"
            }
        let isFused = compute == .int8 || isMultiplyAddFused
        return "skein-engine \(version); \(products); "
            + (isFused ? "fma; " : "no fma; ") + "rope \(rotaryProbe)"
            + (model?.newlyReadRopeFactor.map { ", linear \($0)" } ?? "")
            + (model?.newlyReadRopeTheta.map { ", theta \($0)" } ?? "")
    }

    /// Whether what a block makes of a row's tokens is the same whichever rows are computed with it.
    ///
    /// - Parameter compute: of the frozen weights.
    /// - Returns: false where a library multiplies.
    package static func rowsAreIndependent(_ compute: ComputeType) -> Bool {
        compute != .fp32 || MatMul.isOwn
    }

    /// What the process began with, where that is not the arithmetic of all compute types.
    private static let begun = Mutex<ComputeType?>(nil)

    /// Makes ready what a compute type needs of the process: with int8 every processor multiplies and
    /// adds in one rounding, in software if it must. Call before anything is computed with it.
    ///
    /// On a processor without fused multiply-add this holds for all that the process computes from then
    /// on, and fp32 and bf16 would get other bits than their fingerprints say. So there the process
    /// keeps to what it first computes: int8, or the others.
    ///
    /// - Throws: `EngineError.otherArithmetic`.
    package static func prepare(_ compute: ComputeType) throws(EngineError) {
        let other: ComputeType? = begun.withLock { begun in
            if let begun { return (begun == .int8) == (compute == .int8) ? nil : begun }
            guard ProcessorLevel.current == .plain else { return nil }
            if compute == .int8 { ProcessorLevel.fused.use() }
            begun = compute
            return nil
        }
        if let other { throw .otherArithmetic(compute, begun: other) }
    }

    /// Name, version and core type: OpenBLAS's bits depend on them.
    private static var library: String {
        let words = MatMul.libraryConfiguration.split(separator: " ").prefix(2)
        return words.joined(separator: " ") + " " + MatMul.coreType
    }

    /// What `ElementaryFunctions` makes of one table. The table in use is made by the same arithmetic
    /// from the model's own theta and scaling, so it is the same wherever this is; a change of the
    /// arithmetic changes this, too. 65,536 angles, 2 ms.
    private static let rotaryProbe: String = {
        let probe = RotaryEmbedding(
            headDimension: 128, theta: 100_000, divisors: nil, positions: 1024)
        let digest = probe.table.withUnsafeBytes { SHA256.digest(of: $0) }
        return String(digest.description.prefix(8))
    }()
}
