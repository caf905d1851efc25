import SkeinBasics
import SkeinModels
import SkeinTensors
import SkeinText
import Synchronization

/// Makes answers on a thread of its own: takes jobs, decodes them together, tells what comes.
package final class AnswerEngine: Sendable {
    /// What the engine needs to begin.
    struct Setup: Sendable {
        var model: ModelDirectory
        var plan: BatchPlan
        var threads: Int
        var tokenizer: Tokenizer
        var prefixes: PrefixCache?
        /// Whether answers are guessed ahead (`PromptLookup`).
        var guesses: Bool
    }

    /// What others may know of the engine at any time.
    struct Figures: Sendable, Equatable {
        var running = 0
        var waiting = 0
        /// Bytes of keys and values of answers under way.
        var cacheBytes = 0
        /// Tokens of prompts and answers that were computed.
        var computedTokens = 0
        var guessedTokens = 0
        var rightGuesses = 0
    }

    private let inbox = Inbox()
    private let figuresBox: FiguresBox
    /// The one copy of the model's weights.
    let weights: GenerationWeights

    /// Loads the weights, which takes a moment, and begins to wait for jobs.
    ///
    /// - Parameters:
    ///   - setup: what it needs.
    ///   - deliver: called on the engine's thread with what a step brought; must not wait.
    /// - Throws: `FormatError` when a tensor is missing; `ServeError.noThread`.
    init(
        _ setup: Setup, deliver: @escaping @Sendable ([AnswerEvent]) -> Void
    ) throws {
        let loaded = Condition<Result<GenerationWeights, any Error>?>(nil)
        let (inbox, figures) = (inbox, FiguresBox())
        let isStarted = SystemThread.start("skein-engine", stackBytes: 8 << 20) {
            let team = ComputeTeam(threadCount: setup.threads)
            let weights: GenerationWeights
            do {
                weights = try GenerationWeights(model: setup.model, team: team)
            } catch {
                return loaded.change { $0 = .failure(error) }
            }
            let loop = EngineLoop(
                setup, weights: weights, team: team, inbox: inbox, figures: figures,
                deliver: deliver)
            loaded.change { $0 = .success(weights) }
            loop.run()
        }
        guard isStarted else { throw ServeError.noThread }
        weights = try loaded.wait { $0 }.get()
        figuresBox = figures
    }

    var figures: Figures { figuresBox.value.withLock { $0 } }

    /// Begins all answers of a request, as soon as there is room.
    func submit(_ jobs: [AnswerJob]) { inbox.put(jobs: jobs) }

    /// Ends the answers of a request, before another token of theirs is computed. Nothing more is
    /// told of them.
    func cancel(_ request: RequestID) { inbox.put(cancellation: request) }

    /// Ends the thread after the step that is under way.
    func stop() { inbox.stop() }
}
