import Formats
import Models

extension TrainingJob {
    /// What the run needs with these choices of memory.
    public func memoryEstimate(
        residence: WeightResidence, checkpointing: Bool, threads: Int
    ) -> MemoryEstimate {
        let largest = largestMicroBatch
        return MemoryEstimate(
            MemoryEstimate.Plan(
                model: model.configuration, adapter: shape, residence: residence,
                gradientCheckpointing: checkpointing, dropout: configuration.dropout > 0,
                threads: min(threads, largest.count), tokens: largest.tokens,
                longest: longestRow, lossTokens: largest.lossTokens,
                fileBytes: model.weightBytes))
    }

    /// Enough to meet about every row once; a plan may have millions.
    private static let estimatedSteps = 10_000

    /// The most that a micro-batch holds, and the most of them in a step, over the first steps of
    /// the plan. Later epochs shuffle the same rows into much the same sizes.
    private var largestMicroBatch: (tokens: Int, lossTokens: Int, count: Int) {
        var largest = (tokens: 0, lossTokens: 0, count: 0)
        for step in plan.steps().prefix(Self.estimatedSteps) {
            largest.count = max(largest.count, step.microBatches.count)
            for rows in step.microBatches {
                largest.tokens = max(
                    largest.tokens, rows.reduce(0) { $0 + training[$1].ids.count })
                largest.lossTokens = max(
                    largest.lossTokens, rows.reduce(0) { $0 + training[$1].lossTokenCount })
            }
        }
        return largest
    }

    /// Chooses where the weights are held, or says which flag would make the run fit.
    ///
    /// - Parameters:
    ///   - available: bytes that the process may use; nil when the system does not tell.
    ///   - threads: threads that compute.
    /// - Returns: the residence and what it needs.
    /// - Throws: `MemoryError.tooLarge`.
    public func fit(
        available: Int?, threads: Int
    ) throws -> (residence: WeightResidence, estimate: MemoryEstimate) {
        let checkpointing = configuration.gradientCheckpointing
        let wanted: [WeightResidence] =
            switch configuration.weights {
            case .auto: [.resident, .streamed]
            case .resident: [.resident]
            case .streamed: [.streamed]
            }
        func estimate(
            _ residence: WeightResidence, _ again: Bool, _ threads: Int
        ) -> MemoryEstimate {
            memoryEstimate(residence: residence, checkpointing: again, threads: threads)
        }
        for residence in wanted {
            let needed = estimate(residence, checkpointing, threads)
            guard let available else { return (residence, needed) }
            if needed.total <= available { return (residence, needed) }
        }
        let ways = [
            ("--weights streamed", estimate(.streamed, checkpointing, threads)),
            ("--gradient-checkpointing", estimate(wanted[0], true, threads)),
            (
                "--weights streamed --gradient-checkpointing",
                estimate(.streamed, true, threads)
            ),
            (
                "--weights streamed --gradient-checkpointing --threads 1",
                estimate(.streamed, true, 1)
            ),
        ].map { MemoryError.Way(flags: $0.0, bytes: $0.1.total) }
        throw MemoryError.tooLarge(
            needed: estimate(wanted[wanted.count - 1], checkpointing, threads).total,
            available: available ?? 0, fitting: ways.first { $0.bytes <= available ?? 0 },
            smallest: ways.map(\.bytes).min() ?? 0)
    }
}
