import SkeinBasics
import SkeinCluster

// Every command that coordinates or works runs inside one of these.
extension CommandIO {
    /// Reports a coordinator to the service manager, if one started this process, while `body` runs.
    ///
    /// - Parameters:
    ///   - board: of the run; it is ready once workers may connect.
    ///   - body: gets what the run must ask whether to stop, as it asks `interrupt`.
    /// - Throws: what `body` throws.
    func reporting(
        _ board: RunBoard, _ body: (@escaping @Sendable () -> Bool) throws -> Void
    ) throws {
        try reporting(readyAfter: nil, { board.serviceView }, body)
    }

    /// The same for a worker. It counts as started after a while although no coordinator has let it
    /// in: the program that starts it must not wait for a coordinator that may come tomorrow. If
    /// its token or its model is of no use, it has mostly ended before.
    func reporting(
        _ board: WorkerStatus, _ body: (@escaping @Sendable () -> Bool) throws -> Void
    ) throws {
        try reporting(readyAfter: .seconds(10), { board.serviceView }, body)
    }

    private func reporting(
        readyAfter: Duration?, _ view: @escaping @Sendable () -> ServiceReporter.View,
        _ body: (@escaping @Sendable () -> Bool) throws -> Void
    ) throws {
        let service = ServiceReporter(service, readyAfter: readyAfter, log: log, view: view)
        let interrupt = interrupt
        try service.during { try body { service.passing(interrupt.isSet) } }
    }
}
