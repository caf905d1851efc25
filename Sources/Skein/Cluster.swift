import SkeinBasics
import SkeinNodes
import SkeinTraining

/// Where a coordinator listens and whom it waits for. Nothing here changes the result.
public struct Cluster: Sendable, Equatable {
    /// `HOST:PORT`; port 0 lets the system choose, and `Coordinator.address` tells.
    public var listen: String
    /// The secret that coordinator and workers share, at least 16 bytes; nil: none, which only
    /// loopback allows.
    public var token: [UInt8]?
    /// Names, defaults and ranges are declared there.
    private(set) var values = OptionValues<ClusterOptions>()
    /// Threads of this process that compute, too.
    public var localThreads = 0

    /// Workers that must be there before a step begins.
    public var minimumWorkers: Int {
        get { values.minWorkers }
        set { values.minWorkers = newValue }
    }

    /// How long to wait while workers are missing.
    public var patience: Duration {
        get { values.patience }
        set { values.patience = newValue }
    }

    public init(listen: String = "127.0.0.1:0", token: [UInt8]? = nil) {
        self.listen = listen
        self.token = token
    }
}

extension Cluster {
    var options: CoordinatorOptions {
        CoordinatorOptions(listen: listen, token: token, localWorkers: localThreads)
    }
}
