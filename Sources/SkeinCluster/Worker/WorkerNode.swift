import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinNetwork
import SkeinTraining

/// What a worker is started with.
package struct WorkerOptions: Sendable {
    /// `HOST:PORT`.
    package var coordinator: String
    /// nil: there is none, as on loopback.
    package var token: [UInt8]?
    /// nil: the model is fetched from the coordinator.
    package var modelPath: String?
    /// nil: all cores that may be used.
    package var threads: Int?
    /// nil: made from the host's name, the process and a random number.
    package var name: String?
    /// 16 random bytes of this process; nil: the worker makes them.
    package var incarnation: [UInt8]?
    /// How long to try without being let in.
    package var patience: Duration
    package var weights: ResidenceChoice
    /// Where this worker keeps features; nil: nowhere.
    package var features: FeatureSettings?
    /// Where the coordinator is now, `HOST:PORT`, the likeliest first; asked before each attempt to
    /// reach it, on a thread that may block. nil or nothing: at `coordinator`.
    package var locate: (@Sendable () -> [String])?

    package init(
        coordinator: String, token: [UInt8]?, modelPath: String? = nil, threads: Int? = nil,
        name: String? = nil, patience: Duration = .seconds(60), weights: ResidenceChoice = .auto,
        features: FeatureSettings? = nil, locate: (@Sendable () -> [String])? = nil
    ) {
        self.features = features
        self.locate = locate
        self.coordinator = coordinator
        self.token = token
        self.modelPath = modelPath
        self.threads = threads
        self.name = name
        self.patience = patience
        self.weights = weights
    }
}

/// How a worker ended without an error.
package enum WorkerOutcome: Sendable, Equatable {
    /// The run is complete.
    case complete
    /// It was asked to stop, and has delivered its results.
    case drained
}

/// A worker: dials the coordinator, computes its leases, and reconnects by itself.
package enum WorkerNode {
    /// Works until the run is complete or `shouldDrain` returns true; blocks.
    ///
    /// - Parameters:
    ///   - options: whom to work for, and with what.
    ///   - log: told what happens.
    ///   - version: Skein's, sent to the coordinator.
    ///   - status: what people are shown of it.
    ///   - shouldDrain: asked ten times a second; true ends the worker after its current work.
    /// - Returns: how it ended.
    /// - Throws: `NodeError` when no coordinator lets it in within its patience, the run failed, or
    ///   the coordinator is not authentic or refuses it; what loading a model throws.
    package static func run(
        _ options: WorkerOptions, log: Log, version: String, status: WorkerStatus = WorkerStatus(),
        shouldDrain: @escaping @Sendable () -> Bool
    ) throws -> WorkerOutcome {
        let setup = try WorkerSetup(options, version: version)
        let loop = try EventLoop(name: "skein-network")
        defer { loop.stop() }
        let ending = Promise<Result<WorkerState.Ending, any Error>>()
        let shell = try Confined(to: loop) {
            WorkerShell(loop: loop, setup: setup, log: log, ending: ending)
        }
        shell.post { state in
            state.desk = shell
            state.begin()
        }
        status.attach {
            do {
                return try shell.call { $0.view }
            } catch {
                // The network's thread has ended, and the run says why.
                return nil
            }
        }
        var isDraining = false
        let result: Result<WorkerState.Ending, any Error>
        while true {
            if let kept = ending.value(within: 0.1) {
                result = kept
                break
            }
            if shouldDrain(), !isDraining {
                isDraining = true
                shell.post { $0.drain() }
            }
        }
        let hasJoined = try shell.call { shell in
            shell.end()
            return shell.hasToldReady
        }
        if hasJoined { status.noteJoined() }
        switch try result.get() {
        case .complete: return .complete
        case .drained: return .drained
        case .failed(let detail): throw NodeError.runFailed(detail: detail)
        case .rejected(let rejection):
            throw NodeError.refused(
                address: setup.coordinator.description, error: .rejected(rejection))
        case .patience(let sentence): throw NodeError.coordinatorMissing(sentence: sentence)
        }
    }
}

/// A worker's options, resolved.
package struct WorkerSetup: Sendable {
    let coordinator: NetworkAddress
    /// The coordinator's addresses, as resolved at the start.
    let addresses: [SocketAddress]
    let token: [UInt8]
    let modelPath: String?
    let threads: Int
    let name: String
    let patience: Duration
    let weights: ResidenceChoice
    let features: FeatureSettings?
    /// 16 random bytes of this process.
    let incarnation: [UInt8]
    let version: String
    /// Memory in use, for heartbeats.
    let residentBytes: @Sendable () -> UInt64?
    /// Asks the name server, which may be slow.
    let resolve: @Sendable (NetworkAddress) throws -> [SocketAddress]

    /// Asks the name server.
    ///
    /// - Throws: `NodeError`.
    package init(
        _ options: WorkerOptions, version: String,
        resolve: (@Sendable (NetworkAddress) throws -> [SocketAddress])? = nil,
        residentBytes: @escaping @Sendable () -> UInt64? = { ProcessFigures.residentBytes },
        randomness: Randomness = .system
    ) throws {
        if options.name == WorkerName.own, options.incarnation == nil {
            throw NodeError.nameReserved(name: WorkerName.own)
        }
        coordinator = try NetworkAddress(parsing: options.coordinator)
        let resolve = resolve ?? Self.resolving(options.locate)
        self.resolve = resolve
        addresses = try Self.numeric(options.locate) ?? resolve(coordinator)
        token = options.token ?? []
        modelPath = options.modelPath
        threads = options.threads ?? SystemProcessors.usable
        patience = options.patience
        weights = options.weights
        features = options.features
        incarnation = try options.incarnation ?? randomness.bytes(16)
        self.residentBytes = residentBytes
        name =
            options.name
            ?? Self.name(
                host: ProcessInfo.processInfo.hostName, process: getpid(), incarnation: incarnation)
        self.version = version
    }

    /// More addresses of one coordinator would leave too little time for each.
    private static let mostAddresses = 8

    /// Asks where the coordinator is, and the name server for what those names mean. Names that
    /// mean nothing here are passed over if another one does.
    static func resolving(
        _ locate: (@Sendable () -> [String])?
    ) -> @Sendable (NetworkAddress) throws -> [SocketAddress] {
        { name in
            let texts = locate?() ?? []
            guard !texts.isEmpty else { return try name.resolved(for: .dialling) }
            var found: [SocketAddress] = []
            var failure: SocketError?
            for text in texts where found.count < mostAddresses {
                do throws(SocketError) {
                    for address in try NetworkAddress(parsing: text).resolved(for: .dialling)
                    where !found.contains(address) { found.append(address) }
                } catch {
                    failure = error
                }
            }
            if found.isEmpty, let failure { throw failure }
            return Array(found.prefix(mostAddresses))
        }
    }

    /// Where the coordinator is, as far as that needs no name server; nil: not known. A first
    /// attempt there does not wait for names that mean nothing on this host.
    static func numeric(_ locate: (@Sendable () -> [String])?) -> [SocketAddress]? {
        var found: [SocketAddress] = []
        for text in locate?() ?? [] {
            do throws(SocketError) {
                let address = try NetworkAddress(parsing: text)
                found += try address.resolved(for: .dialling, asksNobody: true)
            } catch {
                // A name, or nothing that can be dialled: `resolve` says so.
                continue
            }
        }
        return found.isEmpty ? nil : Array(found.prefix(mostAddresses))
    }

    /// HOST-PID-RANDOM, for a worker without a name: in containers every process is number 1, and
    /// hosts may have the same name.
    static func name(host: String, process: Int32, incarnation: [UInt8]) -> String {
        let plain = host.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        let random = incarnation.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let tail = "-\(process)-\(random.joined())"
        return plain.prefix(SkeinCoordination.Limits.nameBytes - tail.utf8.count) + tail
    }
}
