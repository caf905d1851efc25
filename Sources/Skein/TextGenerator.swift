import Foundation
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining
import Synchronization

/// Answers prompts with a model and, if there is one, its adapter.
///
/// Threads of its own compute, for one answer at a time; others wait for their turn. An answer is a
/// function of prompt and options: it does not depend on the number of threads.
public final class TextGenerator: Sendable {
    public struct Options: Sendable, Equatable {
        /// Tokens of the answer, at most.
        public var maximumTokens = 256
        /// Spread of the choice; 0: always the likeliest token.
        public var temperature = 0.0
        /// Choose among so many tokens; 0: all.
        public var topK = 0
        /// Choose among the likeliest tokens that have this probability together; 1: all.
        public var topP = 1.0
        /// Of the choice.
        public var seed: UInt64 = 0
        /// A system turn before the prompt.
        public var system: String?
        /// Continues the prompt as it stands, without a chat template.
        public var isRaw = false

        public init() {}
    }

    private let adapted: AdaptedModel
    private let tokenizer: Tokenizer
    private let weights: GenerationWeights
    private let threads: SharedTeam

    /// Loads a model.
    ///
    /// - Parameters:
    ///   - model: the base model.
    ///   - adapter: on top of it; nil for the base model alone.
    ///   - machine: threads are used.
    /// - Throws: `SkeinError`, also for an adapter of another model.
    public init(
        model: Model, adapter: Adapter? = nil, machine: Machine = Machine()
    ) async throws {
        let parts = try await OwnThread.run("skein-load") {
            let adapted = try AdaptedModel(
                model: model.directory, adapter: adapter?.path, threads: machine.threads,
                weights: .auto)
            return (
                adapted, try adapted.tokenizer(),
                try GenerationWeights(
                    model: model.directory, team: ComputeTeam(threadCount: adapted.threads))
            )
        }
        (adapted, tokenizer, weights) = parts
        threads = SharedTeam(threadCount: parts.0.threads)
    }

    /// The whole answer to a prompt.
    ///
    /// - Throws: `SkeinError`; `CancellationError` when the task is cancelled.
    public func answer(to prompt: String, options: Options = Options()) async throws -> String {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            try await OwnThread.run("skein-generate") { [self] in
                var text = ""
                try generate(prompt, options, until: isCancelled) { text += $0 }
                if isCancelled.isSet { throw CancellationError() }
                return text
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    /// The answer to a prompt, piece by piece as it is made; no more pieces than tokens.
    ///
    /// Whoever stops to listen ends the generation.
    public func stream(
        _ prompt: String, options: Options = Options()
    ) -> AsyncThrowingStream<String, any Error> {
        AsyncThrowingStream { continuation in
            let isCancelled = Flag()
            continuation.onTermination = { _ in isCancelled.set() }
            Task {
                do {
                    try await OwnThread.run("skein-generate") { [self] in
                        try generate(prompt, options, until: isCancelled) {
                            continuation.yield($0)
                        }
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
    }

    /// On the calling thread.
    private func generate(
        _ text: String, _ options: Options, until isCancelled: Flag, each: (String) -> Void
    ) throws {
        try options.check()
        let prompt = try adapted.prompt(
            text, system: options.system, raw: options.isRaw,
            maximumTokens: options.maximumTokens, tokenizer: tokenizer)
        threads.use { team in
            let session = DecoderSession(
                weights: weights, adapter: adapted.adapter,
                capacity: prompt.tokens.count + prompt.maximumTokens, team: team)
            let generator = Generator(
                session: session,
                sampler: Sampler(
                    temperature: Float(options.temperature), topK: options.topK,
                    topP: Float(options.topP), seed: options.seed),
                stopTokens: tokenizer.endOfTurnIDs)
            // A character may need several tokens.
            var stream = UTF8Stream()
            generator.run(prompt: prompt.tokens, maximumTokens: prompt.maximumTokens) { token in
                let piece = stream.text(of: tokenizer.bytes(of: token))
                if !piece.isEmpty { each(piece) }
                return !isCancelled.isSet
            }
            let rest = stream.rest()
            if !rest.isEmpty { each(rest) }
        }
    }
}

extension TextGenerator.Options {
    /// - Throws: `SkeinError` for a value that is not allowed.
    func check() throws {
        let rules: [(Bool, String)] = [
            ((1...1_048_576).contains(maximumTokens), "maximumTokens is 1 to 1048576"),
            ((0...100).contains(temperature), "temperature is 0 to 100"),
            ((0...1_048_576).contains(topK), "topK is 0 to 1048576"),
            (topP > 0 && topP <= 1, "topP is above 0 and at most 1"),
        ]
        for (isMet, rule) in rules where !isMet {
            throw SkeinError(code: .usage, what: "an option of generation is not allowed: \(rule)")
        }
    }
}

/// Set once, by whoever does not want the rest.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}

/// Threads that do one thing at a time, for whoever's turn it is.
private final class SharedTeam: @unchecked Sendable {
    // `team` is used with the lock held; hence Sendable.
    private let lock = NSLock()
    private let team: ComputeTeam

    init(threadCount: Int) {
        team = ComputeTeam(threadCount: threadCount)
    }

    func use(_ body: (ComputeTeam) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        body(team)
    }
}
