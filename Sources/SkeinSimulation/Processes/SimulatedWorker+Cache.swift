import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinLaunch

// A worker's disk, into which it fetches its model or on which it keeps features.
extension SimulatedWorker {
    /// nil: it has none that could fail.
    var storage: (any WorkerStorage)? { cache ?? featureHost }

    /// Whether the disk explains that it ends with an error.
    var mayFail: Bool {
        guard let cache else { return false }
        return cache.disk.faults.failures > failuresBefore || cache.isDoubtful
            || cache.trouble.isLasting
    }

    /// The disk as the process has it, or a fetch that begins now.
    func opens(_ disk: SimulatedDisk) -> SimulatedProcess {
        let process = disk.opened(dyingAfter: planned?.death) { [unowned self] in
            world.count("worker died at its disk")
            world.note("\(name) is killed while it uses its disk")
            let away = planned?.away
            planned = nil
            die(for: away)
        }
        usingDisk = process
        return process
    }

    /// It ends with an error that says why: its user starts it again, when the disk may be better.
    func fail(_ shell: WorkerShell) {
        isFailing = true
        loop?.later(.zero) { [self, unowned shell] in
            guard case .failure(let error) = shell.ending.value(within: 0) else {
                return world.violate("\(name) fails without an error")
            }
            switch error {
            case NodeError.modelDamaged: break
            // Rot and lost power change bytes; they let no call fail.
            case is FileError where (cache?.disk.faults.failures ?? 0) > failuresBefore: break
            default: world.violate("\(name) ends with \(error)")
            }
            world.note("\(name) ends: \(error)")
            world.count("worker ended by its disk")
            let status = (error as? any Explained)?.explanation.status ?? .internalError
            die(.exited(status.rawValue))
        }
    }
}
