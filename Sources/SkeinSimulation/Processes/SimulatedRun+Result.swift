import SkeinBasics
import SkeinTraining

// What a run has left, held against the law.
extension SimulatedRun {
    /// The law: everything is as in one process, down to the bytes of the adapter, and stays when
    /// power is lost now.
    func verify(failingStep: Int?) throws {
        let expected = try simulated.expected(poison)
        // What could not be written may not have been removed, either; the next process does that.
        let mayLeave = trouble.explainsError(disk)
        let hasLied = disk.faults.counts[.lostFlush] != nil
        disk.faults = DiskFaults()
        if trouble.isLasting {
            // Texts have no checksums, and what rests upon them is not proved.
            let found = disk["/run/adapter/adapter_model.safetensors"]
            if found != expected.files.adapter { world.violate("another adapter, and no error") }
            return
        }
        guard failingStep == expected.failingStep else {
            let steps = (failingStep, expected.failingStep)
            return world.violate("ends at \(String(describing: steps)) (found, expected)")
        }
        if !mayLeave { try verifyNames() }
        for isPowerLost in hasLied ? [false] : [false, true] {
            if isPowerLost { disk.losePower() }
            let found = try RunFiles(disk, directory: "/run")
            if found.adapter != expected.files.adapter { world.violate("another adapter") }
            if failingStep == nil, found.adapter == nil { world.violate("no adapter") }
            if found.metrics != expected.files.metrics {
                world.violate(
                    "other metrics: \(found.metrics) instead of \(expected.files.metrics)")
            }
            if found.ledger != expected.files.ledger { world.violate("another ledger") }
        }
        let report = try Ledger.verify(
            ledger: "/run/ledger.jsonl", metrics: "/run/metrics.jsonl", in: disk.opened().store)
        if report.findingCount > 0 {
            world.violate("the ledger proves nothing: \(report.findings)")
        }
    }

    /// Whether a path is that of something which has not yet got its name, or has lost it.
    static func isUnfinished(_ path: String) -> Bool {
        [".tmp-", ".writing-", ".replaced-"].contains { path.contains($0) }
    }

    /// What a killed process was writing is removed by the next one.
    private func verifyNames() throws {
        let store = disk.opened().store
        for folder in ["/run", "/run/adapter", "/run/checkpoints", "/run/references"] {
            for name in try store.names(in: folder)
            where Self.isUnfinished(name) {
                world.violate("\(folder)/\(name) is left behind")
            }
        }
    }
}
