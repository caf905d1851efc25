import Foundation
import SkeinBasics
import SkeinTraining

extension SimulatedRun {
    /// The server of a network file system forgets the lock of the directory, and another process takes
    /// it over, between two system calls of the coordinator: it computes some steps and ends. What the
    /// coordinator does from then on must change nothing. If `changes` is not 0, the coordinator changes its
    /// disk as often between the other one's first look at the directory and the rest.
    func lose(toStepsOf steps: Int, after changes: Int, away: Duration) {
        world.note("another process takes the directory over")
        world.count("taken over")
        lostFor = away
        disk.loseLocks(of: "/run/.lock")
        let other = disk.opened()
        var directory: RunDirectory?
        asAnother {
            directory = try RunDirectory(path: "/run", resuming: true, in: other.store)
        }
        takesOver = { [self] in
            defer { other.end() }
            guard let directory else { return }
            asAnother {
                _ = try simulated.straight(
                    in: other, directory, poison, steps: steps, mark: world.random.next())
            }
            left = files
        }
        guard changes > 0, let process else { return goOn() }
        process.interrupt(after: changes) { [self] in goOn() }
    }

    /// Whether an error is that of a process that has lost its directory. Before the other one has raised the
    /// term it may already have removed what this one is making.
    func showsLoss(_ error: any Error) -> Bool {
        switch error {
        case TrainingError.takenOver: true
        case FileError.failed(let operation, let path, ENOENT):
            operation == "rename into place" || Self.isUnfinished(path)
        default: false
        }
    }

    private func goOn() {
        let work = takesOver
        takesOver = nil
        work?()
    }

    /// Does what another process does, whose host has no trouble with the disk.
    private func asAnother(_ body: () throws -> Void) {
        let faults = disk.faults
        disk.faults = DiskFaults()
        defer { disk.faults = faults }
        do {
            try body()
        } catch TrainingError.lossNotFinite {
            // As the coordinator itself will find.
        } catch let error as any Explained where trouble.isLasting {
            world.note("the other process ends: \(error)")
        } catch {
            world.violate("a process that has taken the directory over fails: \(error)")
        }
    }

    /// All files of the run but what a process has not yet given its name.
    private var files: [String: [UInt8]] {
        disk.contents.filter { path, _ in
            path.hasPrefix("/run/") && !Self.isUnfinished(path)
        }
    }

    /// The coordinator is gone, and the other process has the directory as it left it.
    func inspectTakeover() {
        guard takesOver == nil else { return goOn() }
        guard let left else { return }
        let found = files
        for path in Set(left.keys).union(found.keys).sorted() where left[path] != found[path] {
            world.violate("\(path) is changed by a process that has lost it")
        }
        self.left = nil
    }
}
