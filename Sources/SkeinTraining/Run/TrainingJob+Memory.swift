import SkeinFormats
import SkeinModels
import SkeinRows

extension TrainingJob {
    /// The memory that the run needs with these choices.
    package func memoryEstimate(
        residence: WeightResidence, checkpointing: Bool, threads: Int
    ) -> MemoryEstimate {
        Sizes(self).estimate(
            of: self, residence: residence, checkpointing: checkpointing, threads: threads,
            keepsFeatures: configuration.featureSettings != nil)
    }

    /// The most that is in memory at once, over the first steps of the plan and all evaluated rows.
    private struct Sizes {
        var tokens = 0
        var lossTokens = 0
        /// Micro-batches of a step.
        var count = 0
        var judgedTokens = 0
        var judgedLossTokens = 0
        var judgedCount = 0

        /// Enough to see about every row once; a plan may have millions of steps, and a step
        /// thousands of rows. Later epochs shuffle the same rows into similar sizes.
        private static let steps = 10_000
        private static let rows = 1_000_000

        init(_ job: TrainingJob) {
            var seen = 0
            for step in job.plan.steps().prefix(Self.steps) {
                if seen > Self.rows { break }
                seen += step.rowCount
                count = max(count, step.microBatches.count)
                for rows in job.plan.rowsComputedTogether(in: step) {
                    tokens = max(tokens, rows.reduce(0) { $0 + job.plan.lengths[$1] })
                    lossTokens = max(
                        lossTokens,
                        rows.reduce(0) {
                            job.training[job.trainingGroups[$1]].reduce($0) {
                                $0 + $1.lossTokenCount
                            }
                        })
                }
            }
            func judge(_ rows: [TokenizedRow], inPairs: Bool) {
                let groups = RowEvaluation.groups(
                    of: rows, microBatchTokens: job.configuration.microBatchTokens,
                    comparesAnswers: inPairs)
                judgedCount = max(judgedCount, groups.count)
                for group in groups {
                    judgedTokens = max(judgedTokens, group.reduce(0) { $0 + $1.ids.count })
                    judgedLossTokens = max(
                        judgedLossTokens, group.reduce(0) { $0 + $1.lossTokenCount })
                }
            }
            for rows in [job.validation, job.test] {
                judge(rows, inPairs: job.comparesAnswers)
            }
            // On all threads, as an evaluation.
            judge(job.rowsWithReference, inPairs: false)
        }

        func estimate(
            of job: TrainingJob, residence: WeightResidence, checkpointing: Bool, threads: Int,
            keepsFeatures: Bool
        ) -> MemoryEstimate {
            let judged = MemoryEstimate.Judged(
                threads: min(threads, judgedCount), tokens: judgedTokens,
                lossTokens: judgedLossTokens)
            return MemoryEstimate(
                MemoryEstimate.Plan(
                    model: job.model.configuration, adapter: job.shape, residence: residence,
                    compute: job.configuration.compute, gradientCheckpointing: checkpointing,
                    dropout: job.configuration.dropout > 0,
                    threads: min(threads, count), tokens: tokens, longest: job.longestRow,
                    lossTokens: lossTokens, fileBytes: job.model.weightBytes,
                    judged: judgedCount > 0 ? judged : nil,
                    exportCount: job.export?.shape.layout.count ?? 0,
                    readsFeatures: keepsFeatures))
        }
    }

    /// Chooses where the weights are, or says which flags would make the runs fit.
    ///
    /// - Parameters:
    ///   - jobs: runs that share the weights and take turns; at least one.
    ///   - available: bytes that the process may use; nil if the system does not say.
    ///   - threads: threads that compute.
    ///   - bound: what allows less than the system has, for an error.
    ///   - keepsFeatures: whether a run keeps what its frozen blocks make of rows.
    /// - Returns: the residence and what the runs need with it.
    /// - Throws: `MemoryError.tooLarge`.
    package static func fit(
        _ jobs: [TrainingJob], available: Int?, threads: Int, bound: String? = nil,
        keepsFeatures: (TrainingJob) -> Bool = { $0.configuration.featureSettings != nil }
    ) throws -> (residence: WeightResidence, estimate: MemoryEstimate) {
        let configuration = jobs[0].configuration
        let checkpointing = configuration.gradientCheckpointing
        let wanted: [WeightResidence] =
            switch configuration.weights {
            case .auto: [.resident, .streamed]
            case .resident: [.resident]
            case .streamed: [.streamed]
            }
        let sizes = jobs.map { (sizes: Sizes($0), keepsFeatures: keepsFeatures($0)) }
        func estimate(
            _ residence: WeightResidence, _ again: Bool, _ threads: Int
        ) -> MemoryEstimate {
            MemoryEstimate(
                inTurns: zip(sizes, jobs).map { found, job in
                    found.sizes.estimate(
                        of: job, residence: residence, checkpointing: again, threads: threads,
                        keepsFeatures: found.keepsFeatures)
                })
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
            smallest: ways.map(\.bytes).min() ?? 0, bound: bound)
    }

    /// The same for this run alone.
    ///
    /// - Parameters:
    ///   - available: bytes that the process may use; nil if the system does not say.
    ///   - threads: threads that compute.
    /// - Returns: the residence and what the run needs with it.
    /// - Throws: `MemoryError.tooLarge`.
    package func fit(
        available: Int?, threads: Int
    ) throws -> (residence: WeightResidence, estimate: MemoryEstimate) {
        try Self.fit([self], available: available, threads: threads)
    }
}
