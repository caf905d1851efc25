import SkeinBasics
import SkeinTraining

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

// What goes wrong with a coordinator, and who else comes.
extension SimulatedRun {
    /// - Returns: whether there was anything to which it could happen.
    func suffer(_ fault: Fault) -> Bool {
        switch fault.who {
        case .worker(let index):
            guard index < workers.count else { return false }
            guard fault.what == .twin else { return workers[index].suffer(fault) }
            add(SimulatedWorker(world, index, model: workers[index].model), for: fault.seconds)
        case .stranger:
            if fault.what == .version {
                let hasToken = fault.number == 0
                let other = SimulatedWorker(
                    world, 90 + others.count, model: simulated.model(poison),
                    version: hasToken ? "another" : Self.version,
                    token: hasToken ? Self.token : Self.token + [1])
                add(other, for: fault.seconds)
            } else {
                let stranger = Stranger(world, kind: fault.number, seconds: fault.seconds)
                strangers += stranger.dials
                stranger.begin()
            }
        case .coordinator: return sufferAsCoordinator(fault)
        }
        return true
    }

    private func add(_ worker: SimulatedWorker, for seconds: Double) {
        worker.comesBack = false
        others.append(worker)
        launch(worker)
        world.after(.seconds(seconds)) { worker.end() }
    }

    private func sufferAsCoordinator(_ fault: Fault) -> Bool {
        if fault.what == .drift {
            host.drift(to: 1 + Double(fault.number) * 1e-6, now: world.now)
            return true
        }
        if let call = SimulatedDisk.Call(fault.what) {
            var death = (count: max(1, fault.number), of: call)
            // What is given a name too early is seen between that and what should be before it.
            if fault.what == .name {
                death = (max(1, fault.number / 2), fault.number % 2 == 0 ? .behindName : .name)
            }
            if let process { process.die(after: death) } else { planned = death }
            return true
        }
        if fault.what == .takeover {
            guard !isDead, let process else { return false }
            process.interrupt(after: fault.number) { [self] in
                lose(toStepsOf: 1 + fault.number % 3, away: .seconds(fault.seconds))
            }
            return true
        }
        if sufferAtDisk(fault) { return true }
        if fault.what == .power { between.losesPower = true }
        if fault.what == .rot { between.rots = true }
        guard let loop, !loop.isDead else { return fault.what == .power || fault.what == .rot }
        switch fault.what {
        case .stop:
            world.after(.seconds(fault.seconds)) { [self] in book?.forgive() }
            loop.sleep(.seconds(fault.seconds))
            own?.loop?.sleep(.seconds(fault.seconds))
            return true
        case .leave: isAsked = true
        case .second:
            // With its lock, a coordinator has lost what keeps others out; it does not know yet.
            guard lostFor == nil else { return false }
            second()
            return true
        case .kill, .power, .rot, .copy, .restore, .term: die("the coordinator is killed")
        default: return false
        }
        between.pause = .seconds(fault.seconds)
        if fault.what == .copy { between.copies = true }
        if fault.what == .restore { between.restores = true }
        if fault.what == .term { between.repeatsTerm = true }
        return true
    }

    /// For a while, calls of the disk fail or do only a part.
    private func sufferAtDisk(_ fault: Fault) -> Bool {
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

    /// A second coordinator of the same directory is refused, and changes nothing.
    private func second() {
        let before = disk.contents
        let process = disk.opened()
        defer { process.end() }
        do {
            _ = try RunDirectory(path: "/run", resuming: true, in: process.store)
            world.violate("two coordinators have one directory")
        } catch let error as TrainingError {
            world.note("a second coordinator: \(error)")
            world.count("second coordinator refused")
        } catch let error as FileError where !disk.faults.chances.isEmpty {
            world.note("a second coordinator: \(error)")
        } catch {
            world.violate("a second coordinator ends with \(error)")
        }
        if disk.contents != before { world.violate("a second coordinator has changed the disk") }
    }
}
