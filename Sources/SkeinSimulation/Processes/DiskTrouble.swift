import SkeinBasics

/// What of a disk's faults a run may show, though never in its numbers.
struct DiskTrouble {
    /// How many calls had failed when the process was started. If more have, it may end with an error that
    /// says so, also much later: what was done beside the run is told with the next step.
    var failuresBefore = 0
    var isFullUntil = Duration.zero
    /// What was written is not all there: bits that changed at rest, or power that was lost after flushes
    /// that did nothing. A run may go back further, or refuse to go on.
    var isLasting = false

    func explainsError(_ disk: SimulatedDisk) -> Bool {
        disk.faults.failures > failuresBefore || isLasting
    }
}

/// What has a disk that goes wrong for a while.
protocol DiskOwner: AnyObject {
    var world: World { get }
    var disk: SimulatedDisk { get }
    var trouble: DiskTrouble { get set }
}

/// The disk of a machine with workers.
protocol WorkerStorage: DiskOwner {
    /// No process may use it.
    func losePower()
    /// A bit at rest changes.
    ///
    /// - Returns: false if nothing is there.
    func rot() -> Bool
}

extension DiskOwner {
    /// For a while, calls of the disk fail or do only a part.
    func sufferAtDisk(_ fault: Fault) -> Bool {
        let chance = Double(max(1, min(100, fault.number))) / 100
        let kinds: [DiskFaults.Kind]
        switch fault.what {
        case .full:
            // As if something else had taken all of it.
            disk.faults.bytesLeft = max(0, fault.number)
            kinds = []
        case .unreadable: kinds = [.readError]
        case .unwritable: kinds = [.writeError, .flushError]
        case .short: kinds = [.shortRead, .shortWrite, .interruption]
        case .lie:
            disk.faults.liesAboutFlushes = true
            kinds = []
        default: return false
        }
        for kind in kinds { disk.faults.chances[kind] = chance }
        let end = world.now + .seconds(fault.seconds)
        if fault.what == .full { trouble.isFullUntil = max(trouble.isFullUntil, end) }
        world.at(end) { [self] in
            for kind in kinds { disk.faults.chances[kind] = nil }
            if world.now >= trouble.isFullUntil { disk.faults.bytesLeft = nil }
            if fault.what == .lie { disk.faults.liesAboutFlushes = false }
        }
        return true
    }
}
