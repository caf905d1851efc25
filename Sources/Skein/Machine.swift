import SkeinBasics
import SkeinRows
import SkeinTraining

/// How a run uses its machine: threads, memory, disk, and what is reported. Nothing here changes
/// the result.
///
/// Trainers, coordinators, workers, sessions and evaluations take one; where only some options
/// matter, its documentation says which. `weights` and `gradientCheckpointing` save memory and cost
/// time, `reusesFeatures` saves time and costs disk.
public struct Machine: Sendable {
    /// Where the frozen weights are kept. `streamed` takes less memory, and converts each layer
    /// again whenever it is needed.
    public enum Weights: String, Sendable, CaseIterable {
        /// In memory if they fit, else `streamed`.
        case auto
        /// In memory.
        case resident
        /// In the mapped file, converted layer by layer as they are needed.
        case streamed
    }

    /// `MachineOptions` declares names, defaults and ranges.
    private(set) var values = OptionValues<MachineOptions>()

    /// Compute threads, 1 to 1024; nil: as many as processors that may be used.
    public var threads: Int? {
        get { values.threads }
        set { values.threads = newValue }
    }

    /// Where the frozen weights are kept.
    public var weights: Weights {
        get { Weights(named: values.weights) }
        set { values.weights = .init(named: newValue) }
    }

    /// Whether to recompute activations instead of keeping them: less memory, a third more time.
    public var gradientCheckpointing: Bool {
        get { values.gradientCheckpointing }
        set { values.gradientCheckpointing = newValue }
    }

    /// Whether to keep on disk what the blocks below the lowest adapted one make of each row, so that
    /// they are computed once and not in every epoch; needs a recipe with fewer `layers` than the model
    /// has. Features tell about the rows, so the files are private.
    public var reusesFeatures: Bool {
        get { values.reuseFeatures ?? false }
        set { values.reuseFeatures = newValue ? true : nil }
    }

    /// Where features are kept; nil: in the user's cache, or in a session's directory.
    public var featureDirectory: String? {
        get { values.featureDir }
        set { values.featureDir = newValue }
    }

    /// MiB of disk that features may use; nil: 65,536.
    public var featureMebibytes: Int? {
        get { values.featureDisk }
        set { values.featureDisk = newValue }
    }

    /// Whether to keep encoded rows in the user's cache (`~/.cache/skein/tokens`, private), so that
    /// the next run on the same data starts at once.
    public var keepsTokens = true

    /// Steps between checkpoints, besides one after each epoch and validation; 0: only
    /// after these.
    public var checkpointEvery: Int {
        get { values.checkpointEvery }
        set { values.checkpointEvery = newValue }
    }

    /// Newest checkpoints to keep on disk, besides that of the best step; 1 or more.
    public var keepCheckpoints: Int {
        get { values.keepCheckpoints }
        set { values.keepCheckpoints = newValue }
    }

    /// Averages between the checkpoints of a run with `Recipe.localSteps`, instead of
    /// `checkpointEvery`; nil: 10.
    public var saveStateEvery: Int? {
        get { values.saveStateEvery }
        set { values.saveStateEvery = newValue }
    }

    /// Prompts that the model answers after each validation, at most 16 of at most 4,096 bytes; the
    /// run waits meanwhile. The answers are events, and lines of metrics.jsonl.
    public var samplePrompts: [String] {
        get { values.samplePrompt ?? [] }
        set { values.samplePrompt = newValue.isEmpty ? nil : newValue }
    }

    /// Whether to validate, and answer `samplePrompts`, before the first step, too. It is an event and a
    /// line of metrics.jsonl, of step 0; which adapter is kept does not depend on it, and `Outcome` says
    /// whether the run came further. nil: where there are validation rows, and their loss is not known
    /// without it, as of DPO.
    public var validatesAtStart: Bool? {
        get { values.validateAtStart }
        set { values.validateAtStart = newValue }
    }

    /// Receives a coordinator's or worker's messages about its network, on the thread that writes
    /// them, which it must not block; nil drops them. The run itself reports through `events`.
    public var log: (@Sendable (String) -> Void)?

    public init(threads: Int? = nil) {
        self.threads = threads
    }

    /// As a recorded run used its machine.
    init(_ configuration: TrainingConfiguration, keepsTokens: Bool) {
        values = configuration.machine
        self.keepsTokens = keepsTokens
    }

    /// Steps between reports, which run.json records.
    mutating func report(every steps: Int) { values.reportEvery = steps }
}

extension Machine {
    var features: FeatureSettings? {
        reusesFeatures
            ? FeatureSettings(directory: featureDirectory, mebibytes: featureMebibytes) : nil
    }

    var tokenCache: TokenCache? { keepsTokens ? TokenCache() : nil }

    /// A log that passes the messages of the modules below to `log`.
    var roomLog: Log {
        let log = log
        return Log { level, message in
            log?(level == .info ? message : "\(level.rawValue): \(message)")
        }
    }
}
