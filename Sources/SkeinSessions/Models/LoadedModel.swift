import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinText
import Synchronization

/// One copy of a base model in memory, with all that its sessions share: the engine and its queue, the
/// prefix cache, compiled schemas, adapters.
final class LoadedModel: Sendable {
    /// A thread that calls what it is given.
    typealias WorkThread = WorkQueue<@Sendable () -> Void>

    let path: String
    let host: ModelHost
    let identity: FileIdentity
    let conversations: ConversationTokens
    let sinks: ReplySinks
    /// Prepares requests in their order: renders conversations, cuts them into tokens, compiles schemas,
    /// reads adapters. None of it may run on Swift's pool.
    let work: WorkThread
    /// Counts tokens for programs, so that a long document delays no reply's beginning.
    let counts: WorkThread

    var contextSize: Int { host.context }
    var sampling: SamplingRule { SamplingRule(model: SamplingWish(host.model.sampling)) }

    /// Loads a model on the calling thread, which takes the time of packing its weights.
    ///
    /// - Throws: `ModelFlaw`; what reading the files throws.
    init(_ path: String, _ resources: SystemLanguageModel.Resources) throws {
        if let flaw = resources.flaw { throw ModelFlaw.badResources(flaw) }
        self.path = path
        // Asked first: if the files change meanwhile, the next request finds out.
        identity = try FileIdentity(of: path)
        let directory = try ModelDirectory.open(path)
        let settings = ChatTemplateSettings(template: resources.chatTemplate)
        guard try settings.source(for: directory.raw) != nil else {
            throw ModelFlaw.noTemplate(path: path)
        }
        let opened: ModelHost.Opened
        do {
            opened = try ModelHost.Opened(directory, resources.options, for: .program)
        } catch HostError.memory(let needed, let available) {
            // A context is cut, and one reply always has room: nothing else can be refused.
            throw ModelFlaw.memory(
                path: path, needed: needed, available: available,
                hasCopy: resources.compute == .int8)
        }
        let sinks = ReplySinks(limit: resources.parallelReplies + resources.waitingRequests)
        self.sinks = sinks
        // Those that were cancelled since they were queued count, too.
        let limit = 2 * (resources.parallelReplies + resources.waitingRequests)
        work = try Self.thread("skein-prepare", limit: limit)
        counts = try Self.thread("skein-count", limit: SessionLimits.waitingCounts)
        host = try ModelHost(opened, chat: settings) { sinks.take($0) }
        conversations = ConversationTokens(host.prompts, host.tokenizer)
    }

    deinit { host.engine.stop() }

    private static func thread(_ name: String, limit: Int) throws(ModelFlaw) -> WorkThread {
        guard
            let thread = WorkThread(
                name, stackBytes: 8 << 20, room: .refusing(limit), perform: { $0() })
        else { throw .noThread }
        return thread
    }

    /// Ends all replies and takes no more; memory is given back with the last reference to the
    /// model.
    func close() {
        sinks.end(.unloaded(path: path))
        work.close()
        counts.close()
        host.engine.stop()
    }

    /// Refuses a model whose files are others than those that were loaded.
    ///
    /// - Throws: `ModelFlaw.replaced`, `.missing`; another `FileError` when they cannot be looked at.
    func checkFiles() throws {
        let now: FileIdentity
        do {
            now = try FileIdentity(of: path)
        } catch FileError.failed(_, _, let code) where FileKind.isNothing(code) {
            throw ModelFlaw.missing(path: path)
        }
        guard now == identity else { throw ModelFlaw.replaced(path: path) }
    }

    /// What a request computes with. Reads the adapter if it is not in memory, or if its files are others
    /// than those that are.
    ///
    /// - Throws: `AdapterError.otherBase` with both hashes; `AssetError`,
    ///   `AdapterMemoryError.full`.
    func projections(of adapter: SystemLanguageModel.Adapter?) throws -> GenerationProjections {
        guard let adapter else { return host.adapters.plain }
        // Said before its numbers are looked at: another base is mostly of another shape, too.
        let found = host.adapters.digest.wait().description
        if let stated = adapter.baseDigest, stated.lowercased() != found {
            throw AdapterError.otherBase(adapter: adapter.path, expected: stated, found: found)
        }
        do {
            return try host.adapters.adapter(adapter.path, at: adapter.path).projections
        } catch {
            let text: String
            switch error {
            case AdapterMemoryError.full, is AdapterError: throw error
            case AdapterMemoryError.rankTooLarge(_, let rank, let limit):
                text =
                    "the adapter's rank is \(rank), and there is room for \(limit) "
                    + "(\(adapter.path)): raise maximumRank in SystemLanguageModel.Resources"
            case AdapterMemoryError.tooLarge(let bytes, let limit):
                text =
                    "the adapter takes \(bytes) bytes, and all adapters may take \(limit) "
                    + "(\(adapter.path)): raise adapterBytes in SystemLanguageModel.Resources"
            default: text = ErrorText.of(error)
            }
            throw SystemLanguageModel.Adapter.AssetError.invalidAsset(.init(debugDescription: text))
        }
    }

    /// Runs `body` on the preparing thread, or on another one of this model.
    ///
    /// - Throws: what `body` throws; `ModelFlaw.unloaded`, `ReplyFailure.rateLimited`; a
    ///   `CancellationError` if the task is cancelled before its turn.
    func prepare<Value: Sendable>(
        on thread: WorkThread? = nil, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let isWanted = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = (thread ?? work).give {
                    continuation.resume(
                        with: Result {
                            guard isWanted.isSet else { throw CancellationError() }
                            return try body()
                        })
                }
                if case .full = outcome, thread === counts {
                    continuation.resume(
                        throwing: ReplyFailure.countsFull(limit: SessionLimits.waitingCounts))
                } else if let failure = failure(outcome) {
                    continuation.resume(throwing: failure)
                }
            }
        } onCancel: {
            isWanted.clear()
        }
    }

    /// Why work was not taken; nil: it was.
    func failure(_ outcome: WorkThread.Outcome) -> (any Error)? {
        switch outcome {
        case .taken, .dropped: nil
        case .over: ModelFlaw.unloaded(path: path)
        case .full: ReplyFailure.rateLimited(waiting: sinks.count, limit: sinks.limit)
        }
    }
}

/// Whether something is still wanted.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(true)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func clear() { value.store(false, ordering: .releasing) }
}
