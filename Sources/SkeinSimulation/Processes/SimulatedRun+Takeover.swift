import SkeinBasics
import SkeinTraining

extension SimulatedRun {
    /// The server of a network file system forgets the lock of the directory, and another process takes
    /// it over, between two system calls of the coordinator: it computes some steps and ends. What the
    /// coordinator does from then on must change nothing.
    func lose(toStepsOf steps: Int, away: Duration) {
        world.note("another process takes the directory over")
        world.count("taken over")
        lostFor = away
        // The other one's host has no trouble with the disk.
        let faults = disk.faults
        disk.faults = DiskFaults()
        disk.loseLocks(of: "/run/.lock")
        let other = disk.opened()
        defer {
            other.end()
            disk.faults = faults
        }
        do {
            _ = try simulated.straight(
                in: other, poison, steps: steps, mark: world.random.next())
        } catch TrainingError.lossNotFinite {
            // As the coordinator itself will find.
        } catch let error as any Explained where trouble.isLasting {
            world.note("the other process ends: \(error)")
        } catch {
            world.violate("a process that has taken the directory over fails: \(error)")
        }
    }
}
