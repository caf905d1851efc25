import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinTraining
import Synchronization

/// Answers the run's sample prompts with the adapter as it is after a validation.
///
/// Always the most likely token, so that equal runs have equal samples, on any number of threads.
/// The weights are loaded for the first samples and kept: about the bytes of the model's file.
final class SampleMaker: SampleMaking {
    /// Most tokens of a sample: a few sentences. 0.5 s at 128 tokens per second.
    private static let mostTokens = 64

    private let job: TrainingJob
    private let own: Mutex<Own>

    /// What computes; the lock is never contended.
    private struct Own {
        let team: ComputeTeam
        /// nil before the first samples.
        var weights: GenerationWeights?
    }

    /// - Parameters:
    ///   - job: whose prompts, model and adapter shape are used.
    ///   - threads: that compute; nil: as many as processors that may be used.
    init(job: TrainingJob, threads: Int? = nil) {
        self.job = job
        own = Mutex(
            Own(team: ComputeTeam(threadCount: threads ?? SystemProcessors.usable), weights: nil))
    }

    /// Bytes that samples take besides what the run takes: the weights and one prompt's cache.
    static func bytes(of job: TrainingJob) -> Int {
        guard let longest = job.samplePrompts.map(\.ids.count).max() else { return 0 }
        return Generator.byteCount(of: job.model, tokens: longest + mostTokens)
    }

    /// - Throws: `FormatError` when the weights cannot be read.
    func samples(_ parameters: [Float], step: Int, epoch: Int) throws -> [SampleMetrics] {
        try own.withLock { own in
            var samples: [SampleMetrics] = []
            for prompt in job.samplePrompts {
                let tokens = try answer(prompt, parameters, &own)
                samples.append(
                    SampleMetrics(
                        step: step, epoch: epoch, prompt: prompt.text,
                        text: tokens.map { job.decode($0) }, tokens: tokens?.count ?? 0))
            }
            return samples
        }
    }

    /// The tokens of an answer; nil when the logits are not finite, as of a run that diverged.
    private func answer(
        _ prompt: SamplePrompt, _ parameters: [Float], _ own: inout Own
    ) throws -> [Int32]? {
        let team = own.team
        let loaded = try own.weights ?? GenerationWeights(model: job.model, team: team)
        own.weights = loaded
        let room = job.model.configuration.contextLength - prompt.ids.count
        let most = min(Self.mostTokens, room)
        // An adapter without a wish: always the most likely token.
        let generator = Generator(
            job.model, loaded, adapter: AdapterParameters(shape: job.shape, values: parameters),
            capacity: prompt.ids.count + most, stopTokens: job.endOfTurnIDs, team: team)
        var tokens: [Int32] = []
        do {
            try generator.run(
                prompt: prompt.ids, maximumTokens: most, check: DecoderSession.uninterrupted
            ) {
                tokens.append($0)
                return true
            }
        } catch GenerationError.notFinite {
            return nil
        }
        return tokens
    }
}
