import SkeinTraining

extension SampleSource {
    /// Answers with the run's model and its adapter as it is.
    package static let generating = SampleSource(
        bytes: { SampleMaker.bytes(of: $0) }, maker: { SampleMaker(job: $0, threads: $1) })
}
