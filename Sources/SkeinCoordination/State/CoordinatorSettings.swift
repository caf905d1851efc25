import SkeinBasics

/// How long a coordinator waits for what. A user sets `minimumWorkers` and `patience`; the rest is
/// derived or fixed.
package struct CoordinatorSettings: Sendable, Equatable {
    /// A round begins when this many workers are there.
    package var minimumWorkers: Int
    /// How long there may be too few workers, since one last joined or got on with its preparation;
    /// ten times that before the first one has ever joined.
    package var patience: Duration
    /// How often each side must be heard.
    package var heartbeat = Duration.milliseconds(500)
    /// After one late heartbeat idle workers may compute a worker's leases, too: at worst in vain.
    package var quietAfter = Duration.milliseconds(750)
    /// After three missed heartbeats a worker gets nothing new.
    package var suspectAfter = Duration.milliseconds(1500)
    /// After five missed heartbeats a worker counts as gone.
    package var lostAfter = Duration.milliseconds(2500)
    /// No lease is overdue sooner.
    package var leaseFloor = Duration.seconds(2)
    /// No lease is doubled for slowness sooner: a second one would not save more than it costs.
    package var speculationFloor = Duration.milliseconds(250)
    /// A worker's pace that was not measured for this long counts as unknown.
    package var paceAge = Duration.seconds(30)
    /// After this long without progress the log says what is waited for.
    package var stallAfter = Duration.seconds(5)
    /// Peers of 1 MiB of state each would be 4 GiB; more hosts than that want more coordinators.
    package var maximumWorkers = 4096
    /// The incarnation of the coordinator's own worker, the only one that may have its name; nil: no worker
    /// may.
    package var ownIncarnation: [UInt8]?
    /// A piece of work that was refused this often, by all workers that are there and for longer than
    /// the patience, ends the run: the fault is not a worker's.
    package var maximumRefusals = 16
    /// After this many refusals a piece goes only to workers with good results, if there are any.
    package var refusalsByStrangers = 4
    /// Results that may wait for their check, over all workers; the shell sets it by their size.
    package var maximumUnchecked = 4096

    /// A lease of a live worker is taken away when it has made no progress for this long: no layer
    /// done, no bytes on their way. Much longer than a layer of any model takes.
    package var stuckAfter: Duration { patience * 5 }

    /// Room is kept this long for a result that was asked for again; while its worker's bytes move,
    /// as long as the patience.
    package var recallTime = Duration.seconds(10)

    package init(minimumWorkers: Int = 1, patience: Duration = .seconds(60)) {
        precondition(minimumWorkers >= 1, "a run without workers")
        self.minimumWorkers = minimumWorkers
        self.patience = patience
    }
}

extension Welcome {
    /// What a worker must know of the settings.
    package init(_ settings: CoordinatorSettings) {
        self.init(
            heartbeatMilliseconds: settings.heartbeat.inMilliseconds,
            silenceMilliseconds: settings.lostAfter.inMilliseconds)
    }
}

extension Duration {
    /// Seconds as a floating-point number.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// "3.1 s".
    package var inWords: String {
        let tenths = max(0, Int((inSeconds * 10).rounded()))
        return "\(tenths / 10).\(tenths % 10) s"
    }

    /// Whole milliseconds, rounded up, as the wire has them.
    var inMilliseconds: UInt32 {
        UInt32(clamping: max(0, Int((inSeconds * 1000).rounded(.up))))
    }
}
