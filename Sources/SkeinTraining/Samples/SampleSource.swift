/// What answers the sample prompts of runs.
///
/// What generates text lies above this room, so neither training nor a cluster needs it: the library
/// makes the source that does (`SampleSource.generating`) and hands it in.
package struct SampleSource: Sendable {
    /// Bytes that the samples of a job take besides what its run takes.
    package let bytes: @Sendable (TrainingJob) -> Int
    /// Makes what answers a job's prompts, one for each run, on so many threads; nil: as many as
    /// processors that may be used.
    package let maker: @Sendable (TrainingJob, _ threads: Int?) -> any SampleMaking

    package init(
        bytes: @escaping @Sendable (TrainingJob) -> Int,
        maker: @escaping @Sendable (TrainingJob, _ threads: Int?) -> any SampleMaking
    ) {
        self.bytes = bytes
        self.maker = maker
    }

    /// What answers a job's prompts; nil: it has none.
    package func maker(of job: TrainingJob, threads: Int?) -> (any SampleMaking)? {
        job.samplePrompts.isEmpty ? nil : maker(job, threads)
    }

    /// Leaves all prompts without an answer, and metrics.jsonl without their lines.
    package static let silent = SampleSource(bytes: { _ in 0 }, maker: { _, _ in Silent() })

    private struct Silent: SampleMaking {
        func samples(_ parameters: [Float], step: Int, epoch: Int) -> [SampleMetrics] { [] }
    }
}

/// Answers the sample prompts of one run. Used by the training loop's thread alone, which waits
/// meanwhile.
package protocol SampleMaking: Sendable {
    /// Samples for the parameters after a step, in the order of the prompts.
    func samples(_ parameters: [Float], step: Int, epoch: Int) throws -> [SampleMetrics]
}
