import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinTraining

/// A worker inside the coordinator's process (`--local-workers`). It dials the port like any other,
/// so it can do nothing that they cannot.
struct LocalWorkers: Sendable {
    private let ended = Promise<Bool>()
    private let isOver = Promise<Bool>()

    /// Starts a worker with `threads` threads; none for 0. By its incarnation the coordinator knows it.
    init(
        threads: Int, address: String, token: [UInt8]?, incarnation: [UInt8]?, job: TrainingJob,
        version: String, log: Log
    ) {
        guard threads > 0 else {
            ended.keep(true)
            return
        }
        var options = WorkerOptions(
            coordinator: Self.reachable(address), token: token, modelPath: job.model.path,
            threads: threads, name: WorkerName.own, patience: job.configuration.patience,
            weights: job.configuration.weights,
            features: job.configuration.featureSettings)
        options.incarnation = incarnation
        let isStarted = SystemThread.start("skein-local") { [options, ended, isOver] in
            do {
                _ = try WorkerNode.run(options, log: log, version: version) {
                    isOver.value(within: 0) != nil
                }
            } catch {
                let explanation = (error as? any Explained)?.explanation
                log.error(
                    "the coordinator's own worker has ended: "
                        + (explanation?.what ?? String(describing: error)))
            }
            ended.keep(true)
        }
        if !isStarted {
            log.error("the system refused to start a thread for the coordinator's own worker")
            ended.keep(true)
        }
    }

    /// Replaces the address of every interface with loopback.
    private static func reachable(_ address: String) -> String {
        for (any, loopback) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")]
        where address.hasPrefix(any) {
            return loopback + address.dropFirst(any.count)
        }
        return address
    }

    /// Ends the worker and blocks until it has ended: no coordinator comes back in this process.
    func end() {
        isOver.keep(true)
        while ended.value(within: 1) == nil {}
    }
}
