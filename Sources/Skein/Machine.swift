import SkeinBasics
import SkeinTraining

/// How a run uses the machine that it is on. Nothing here changes the result.
public struct Machine: Sendable {
    /// Where the frozen weights are held.
    public enum Weights: String, Sendable, CaseIterable {
        /// In memory when they fit, else `streamed`.
        case auto
        /// In memory.
        case resident
        /// In the mapped file, converted layer by layer when they are needed.
        case streamed
    }

    /// Names, defaults and ranges are declared there.
    private(set) var values = OptionValues<MachineOptions>()

    /// Threads that compute; nil: one for each processor. 1 to 1024.
    public var threads: Int? {
        get { values.threads }
        set { values.threads = newValue }
    }

    public var weights: Weights {
        get { Weights(named: values.weights) }
        set { values.weights = .init(named: newValue) }
    }

    /// Computes activations twice instead of keeping them: less memory, a third more time.
    public var gradientCheckpointing: Bool {
        get { values.gradientCheckpointing }
        set { values.gradientCheckpointing = newValue }
    }

    /// Keeps encoded rows in the user's cache directory (`~/.cache/skein/tokens`, for its owner alone),
    /// so that the next run over the same data starts at once.
    public var keepsTokens = true

    /// Steps between checkpoints, besides those after each epoch; 0: only those.
    public var checkpointEvery: Int {
        get { values.checkpointEvery }
        set { values.checkpointEvery = newValue }
    }

    /// Newest checkpoints that stay on disk, besides that of the best step; 1 or more.
    public var keepCheckpoints: Int {
        get { values.keepCheckpoints }
        set { values.keepCheckpoints = newValue }
    }

    /// Hears what a coordinator or a worker says of its network, on the thread that says it, which must
    /// not be held up; nil drops it. `events` tell of the run itself.
    public var log: (@Sendable (String) -> Void)?

    public init(threads: Int? = nil) {
        self.threads = threads
    }
}

extension Machine {
    var tokenCache: TokenCache? { keepsTokens ? TokenCache() : nil }

    /// The rooms below say what happens to a log, which hands it on.
    var roomLog: Log {
        let log = log
        return Log { level, message in
            log?(level == .info ? message : "\(level.rawValue): \(message)")
        }
    }
}
