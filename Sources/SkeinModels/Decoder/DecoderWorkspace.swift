import SkeinTensors

/// The memory that one compute thread needs for one micro-batch; reused from batch to batch.
///
/// Not Sendable: each thread owns one. Letters: `T` tokens, `D` width, `F` feed-forward, `H`, `G`
/// query and key/value heads, `N` head dimension, `R` rank, `V` vocabulary.
package final class DecoderWorkspace {
    /// Logit rows that exist at once: [chunk, V]. Fixed, because the row count changes the bits
    /// where OpenBLAS computes (no fused multiply-add).
    static let headRows = 128
    /// Vocabulary rows that one product takes. Fixed for the same reason, and because it cuts the sums
    /// of the head's backward product.
    static let headPanel = 8192

    let matMul: MatMul
    let memory = GrowingMemory()

    package init(tally: MatMulTally? = nil) {
        matMul = MatMul(tally: tally)
    }

    /// Carves the pieces for a batch, growing the memory if it is the largest so far.
    func pieces(_ size: BatchSize) -> BatchMemory {
        var count = Arena()
        _ = BatchMemory(size, &count)
        var arena = Arena(memory.reserve(count.used))
        return BatchMemory(size, &arena)
    }
}

/// Threads that compute micro-batches; each job is lent a workspace.
package typealias DecoderThreads = ComputeThreads<DecoderWorkspace>

extension ComputeThreads where Workspace == DecoderWorkspace {
    /// - Parameter threadCount: at least 1.
    package convenience init(threadCount: Int) {
        self.init(threadCount: threadCount) { DecoderWorkspace() }
    }
}
