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

    /// Threads that compute; nil: one for each processor. 1 to 1024.
    public var threads: Int?
    public var weights = Weights.auto
    /// Computes activations twice instead of keeping them: less memory, a third more time.
    public var gradientCheckpointing = false
    /// Keeps encoded rows in the user's cache directory (`~/.cache/skein/tokens`, for its owner alone),
    /// so that the next run over the same data starts at once.
    public var keepsTokens = true
    /// Steps between checkpoints, besides those after each epoch; 0: only those.
    public var checkpointEvery = 50
    /// Newest checkpoints that stay on disk, besides that of the best step.
    public var keepCheckpoints = 3
    /// Hears what a coordinator or a worker says of its network, on the thread that says it, which must
    /// not be held up; nil drops it. `events` tell of the run itself.
    public var log: (@Sendable (String) -> Void)?

    public init(threads: Int? = nil) {
        self.threads = threads
    }
}

extension Machine {
    /// Sets what the machine decides.
    func apply(to configuration: inout TrainingConfiguration) {
        configuration.threads = threads
        configuration.weights = residence
        configuration.gradientCheckpointing = gradientCheckpointing
        configuration.checkpointEvery = checkpointEvery
        configuration.keepCheckpoints = keepCheckpoints
    }

    var residence: ResidenceChoice {
        switch weights {
        case .auto: .auto
        case .resident: .resident
        case .streamed: .streamed
        }
    }

    var tokenCache: TokenCache? { keepsTokens ? TokenCache() : nil }

    /// The rooms below say what happens to a log, which hands it on.
    var roomLog: Log {
        let log = log
        return Log { level, message in
            log?(level == .info ? message : "\(level.rawValue): \(message)")
        }
    }
}
