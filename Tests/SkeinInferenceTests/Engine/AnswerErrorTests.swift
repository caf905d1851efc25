import SkeinBasics
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinInference

/// Why answers are not made.
@Suite struct AnswerErrorTests {
    @Test("what can be mended says how, and its status is that of input")
    func words() {
        for error in [
            .refused(.tooLong(tokens: 9, limit: 8)), .refused(.emptyPrompt),
            .refused(.tooLarge(neededBytes: 9, limit: 8)),
            .refused(.unknownToken(9, limit: 8)), .refused(.rankTooLarge(rank: 9, limit: 8)),
        ] as [AnswerError] {
            #expect(error.explanation.status == .badData, "\(error)")
            #expect(!error.explanation.remedy.isEmpty, "\(error)")
        }
        #expect(AnswerError.noThread.explanation.status == .inputOutput)
        #expect(AnswerError.notFed(.busy).explanation.status == .internalError)
        #expect(
            AnswerError.notFed(.busy).explanation.what == "an error of skein's own: not fed: busy")
    }

    @Test("an answer that never fits fails with the decoder's refusal")
    func refused() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let failures = Condition([Int: AnswerError]())
            let engine = try AnswerEngine(
                AnswerEngine.Setup(
                    model: model,
                    plan: BatchPlan(model: model.configuration, sequences: 1, context: 16),
                    threads: 1, tokenizer: try Tokenizer(model: model.raw), prefixes: nil,
                    guesses: false)
            ) { events in
                failures.change { failures in
                    for event in events {
                        guard case .failed(let error as AnswerError) = event.content else {
                            continue
                        }
                        failures[Int(event.request.number)] = error
                    }
                }
            }
            defer { engine.stop() }
            let prompts: [[Int32]] = [[], [1, 2], [1_000_000]]
            for (number, prompt) in prompts.enumerated() {
                engine.submit([
                    AnswerJob(
                        request: RequestID(number: UInt64(number)), choice: 0, prompt: prompt,
                        maximumTokens: 15,
                        adapter: GenerationProjections(engine.weights, adapter: nil),
                        sampler: Sampler(), bias: [:], stops: [], ignoresEnd: false, guide: .free,
                        logprobs: nil, tellsPrompt: false, recordsEnd: false)
                ])
            }
            try Deadline.wait { failures.change { $0.count } == prompts.count }
            let vocabulary = model.configuration.vocabularySize
            #expect(
                failures.change { $0 } == [
                    0: .refused(.emptyPrompt), 1: .refused(.tooLong(tokens: 17, limit: 16)),
                    2: .refused(.unknownToken(1_000_000, limit: vocabulary)),
                ])
        }
    }
}
