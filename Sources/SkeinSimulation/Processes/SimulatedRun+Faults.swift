import SkeinBasics
import SkeinTraining

// What goes wrong with a coordinator, and who else comes.
extension SimulatedRun {
    /// - Returns: whether there was anything to which it could happen.
    func suffer(_ fault: Fault) -> Bool {
        switch fault.who {
        case .worker(let index):
            guard index < workers.count else { return false }
            return suffer(fault, as: workers[index])
        case .stranger:
            if fault.what == .version {
                let hasToken = fault.number == 0
                let number = 90 + others.count
                let other = SimulatedWorker(
                    world, number, model: simulated.model(poison),
                    cache: fetched.map { CacheHost(world, number, $0) },
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

    private func suffer(_ fault: Fault, as worker: SimulatedWorker) -> Bool {
        switch fault.what {
        case .twin:
            let twin = SimulatedWorker(
                world, worker.index, model: worker.model, cache: worker.cache,
                features: worker.featureHost)
            add(twin, for: fault.seconds)
        case .power:
            guard let storage = worker.storage else { return false }
            for other in workers + others where other.storage === storage {
                if other.loop != nil { other.die(for: .seconds(fault.seconds)) }
            }
            storage.losePower()
        case .rot: return worker.storage?.rot() ?? false
        default: return worker.storage?.sufferAtDisk(fault) == true || worker.suffer(fault)
        }
        return true
    }

    private func sufferAsCoordinator(_ fault: Fault) -> Bool {
        if fault.what == .drift {
            host.drift(to: 1 + Double(fault.number) * 1e-6, now: world.now)
            return true
        }
        if let death = SimulatedDisk.death(of: fault) {
            if let process { process.die(after: death) } else { planned = death }
            return true
        }
        if fault.what == .takeover {
            guard !isDead, let process else { return false }
            process.interrupt(after: fault.number) { [self] in
                lose(
                    toStepsOf: 1 + fault.number % 3, after: fault.number / 3 % 10,
                    away: .seconds(fault.seconds))
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
        case .leave:
            if let launcher { launcher.isInterrupted() } else { isAsked = true }
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
