import SkeinBasics
import SkeinCluster
import SkeinTraining

/// Where a coordinator listens and which workers it waits for. Nothing here changes the result.
///
/// The defaults are for workers on this machine: loopback, a free port, no token, and a first step
/// as soon as one worker is there. A coordinator that other machines can reach needs a token.
public struct Cluster: Sendable, Equatable {
    /// `HOST:PORT`. With port 0 the system chooses a port; `Coordinator.address` has it.
    public var listen: String
    /// The secret that coordinator and workers share, 16 to 4096 bytes; nil: none, allowed only on
    /// loopback.
    public var token: [UInt8]?
    /// `ClusterOptions` declares names, defaults and ranges.
    private(set) var values = OptionValues<ClusterOptions>()
    /// Compute threads in the coordinator's own process; 0 to 1024.
    public var localThreads = 0

    /// Workers needed before a step begins; 1 to 65536.
    public var minimumWorkers: Int {
        get { values.minWorkers }
        set { values.minWorkers = newValue }
    }

    /// How long to wait for missing workers, counted from the last one that joined or made progress
    /// with its model; 10 times as long before the first joins. More than 2.5 s.
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
