import SkeinBasics
import SkeinModels
import SkeinTensors
import SkeinText
import Synchronization

/// Makes answers on a thread of its own: takes jobs, decodes them together, tells what comes.
package final class AnswerEngine: Sendable {
    /// What the engine needs to begin.
    package struct Setup: Sendable {
        package var model: ModelDirectory
        package var plan: BatchPlan
        package var threads: Int
        package var tokenizer: Tokenizer
        package var prefixes: PrefixCache?
        /// Whether answers are guessed ahead (`PromptLookup`).
        package var guesses: Bool
        /// How many owners there may be. As long as answers of fewer are being decoded, each of those
        /// leaves room for one answer.
        package var owners = 1
    }

    /// What others may know of the engine at any time.
    package struct Figures: Sendable, Equatable {
        package var running = 0
        package var waiting = 0
        /// Bytes of keys and values of answers under way.
        package var cacheBytes = 0
        /// Tokens of prompts and answers that were computed.
        package var computedTokens = 0
        package var guessedTokens = 0
        package var rightGuesses = 0

        package init() {}
    }

    private let inbox = EngineInbox()
    private let figuresBox: FiguresBox
    /// The one copy of the model's weights.
    package let weights: GenerationWeights

    /// Loads the weights, which takes a moment, and begins to wait for jobs.
    ///
    /// - Parameters:
    ///   - setup: what it needs.
    ///   - deliver: called on the engine's thread with what a step brought; must not wait.
    /// - Throws: `FormatError` when a tensor is missing; `AnswerError.noThread`; with prompts in int8
    ///   `PackedMatrixError`.
    package init(
        _ setup: Setup, deliver: @escaping @Sendable ([AnswerEvent]) -> Void
    ) throws {
        let loaded = Condition<Result<GenerationWeights, any Error>?>(nil)
        let (inbox, figures) = (inbox, FiguresBox())
        let isStarted = SystemThread.start("skein-engine", stackBytes: 8 << 20) {
            let team = ComputeTeam(threadCount: setup.threads)
            let weights: GenerationWeights
            do {
                weights = try GenerationWeights(
                    model: setup.model, compute: setup.plan.compute, team: team)
            } catch {
                return loaded.change { $0 = .failure(error) }
            }
            let loop = EngineLoop(
                setup, weights: weights, team: team, inbox: inbox, figures: figures,
                deliver: deliver)
            loaded.change { $0 = .success(weights) }
            loop.run()
        }
        guard isStarted else { throw AnswerError.noThread }
        weights = try loaded.wait { $0 }.get()
        figuresBox = figures
    }

    package var figures: Figures { figuresBox.value.withLock { $0 } }

    /// Begins all answers of a request, as soon as there is room.
    ///
    /// - Parameters:
    ///   - jobs: the answers.
    ///   - owner: whose request it is. Owners take turns, each with one answer.
    package func submit(_ jobs: [AnswerJob], for owner: RequestOwner = .everybody) {
        inbox.put(
            jobs: jobs.map { job in
                var job = job
                job.owner = owner
                return job
            })
    }

    /// Ends the answers of a request, before another token of theirs is computed. Nothing more is
    /// told of them.
    ///
    /// - Parameters:
    ///   - request: of which the answers are.
    ///   - tell: called on the engine's thread when they have ended, with those that were being
    ///     decoded; not if the engine stops before.
    package func cancel(
        _ request: RequestID, tell: (@Sendable ([CutAnswer]) -> Void)? = nil
    ) { inbox.put(cancellation: request, tell) }

    /// Ends the thread after the step that is under way.
    package func stop() { inbox.stop() }
}
