import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinTensors

/// The worker's side of the network: carries out what `WorkerState` directs.
///
/// Lives on the event loop's thread, which computes nothing and so sends heartbeats whatever the
/// compute threads do.
package final class WorkerShell {
    let loop: any Clock & Network
    let setup: WorkerSetup
    let log: Log
    let randomness: Randomness
    /// Prepares this worker for an offer.
    let makeLoading: (Offer) -> any EngineLoading
    /// The end of this worker, for the thread that waits for it.
    package let ending: Promise<Result<WorkerState.Ending, any Error>>

    package internal(set) var state: WorkerState
    package internal(set) var connection: Connection?
    var handshake: WorkerHandshake?
    /// The current connection's offer.
    package internal(set) var offer: Offer?
    var loading: (any EngineLoading)?
    package internal(set) var engine: (any LeaseEngine)?
    /// Leases not yet forgotten.
    package internal(set) var leases: [WorkKey: LeaseGrant] = [:]
    /// Those of them that came over the current connection.
    var leasedHere: Set<WorkKey> = []
    /// Results that wait for an answer.
    package internal(set) var results: [WorkKey: WorkResult] = [:]
    /// What loading has thrown last.
    var loadingError: (any Error)?
    /// What each thread computes, and what it made last.
    var running: [Int: LeaseJob] = [:]
    var made: [Int: WorkResult] = [:]
    /// This shell for other threads; set by its creator.
    package var desk: Confined<WorkerShell>?
    /// SHA-256 of the model that this worker has; nil until it has one.
    var modelDigest: [UInt8]?
    /// Whether the log has the line that this worker is ready.
    package var hasToldReady = false
    /// How often this side sends a heartbeat; the coordinator decides.
    var heartbeat = Duration.milliseconds(500)
    /// Connections so far: callbacks of earlier ones are ignored.
    var attempt = 0
    var dial: (any Attempt)?
    /// The coordinator's addresses, as last resolved.
    var addresses: [SocketAddress]
    var hasDialled = false
    /// Whether a thread is asking the name server, which may take a minute.
    var isLookingUp = false
    /// Set while dialling waits for its answer.
    var lookupAlarm: Alarm?
    private let start: ContinuousClock.Instant
    /// When the state was last told of bytes.
    private var bytesHeard: ContinuousClock.Instant
    private var pendingEvents: [WorkerState.Event] = []
    /// See `CoordinatorShell.witness`.
    package var witness: ((WorkerState.Event, [WorkerState.Directive]) -> Void)?

    package init(
        loop: any Clock & Network, setup: WorkerSetup, log: Log,
        ending: Promise<Result<WorkerState.Ending, any Error>>, randomness: Randomness = .system,
        makeLoading: ((Offer) -> any EngineLoading)? = nil
    ) {
        self.loop = loop
        self.setup = setup
        self.log = log
        self.ending = ending
        self.randomness = randomness
        self.makeLoading =
            makeLoading ?? { ModelLoading(offer: $0, setup: setup, log: log) }
        addresses = setup.addresses
        start = loop.now
        bytesHeard = loop.now
        state = WorkerState(
            settings: WorkerSettings(threads: setup.threads, patience: setup.patience))
        loop.setTimer(
            nextDeadline: { [weak self] in
                guard let self, let deadline = state.nextDeadline else { return nil }
                return start + deadline
            }, tick: { [weak self] _ in self?.tick() })
    }

    /// Begins to dial.
    package func begin() {
        beat()
        handle(.start)
    }

    /// Finishes what it computes, then ends.
    package func drain() {
        handle(.drain)
    }

    package var now: Duration { loop.now - start }

    /// What this worker shows of itself.
    var view: ServiceReporter.View {
        ServiceReporter.View(
            sentence: state.sentence(
                coordinator: setup.coordinator.description,
                preparedBytes: loading?.progress.bytes ?? 0,
                waitsForOther: loading?.progress.waitsForOther ?? false, now: now),
            isReady: hasToldReady)
    }

    private func tick() {
        // On a slow link a heartbeat waits behind a frame for longer than silence may last.
        if let connection, connection.lastHeard > bytesHeard {
            bytesHeard = connection.lastHeard
            handle(.heard)
        }
        handle(.tick)
    }

    /// Tells the state what happened and carries out its directives.
    func handle(_ event: WorkerState.Event) {
        pendingEvents.append(event)
        guard pendingEvents.count == 1 else { return }
        while let next = pendingEvents.first {
            let directives = state.handle(next, now: now, jitter: jitter())
            witness?(next, directives)
            for directive in directives { carryOut(directive) }
            pendingEvents.removeFirst()
        }
    }

    private func jitter() -> Double {
        do {
            return try randomness.fraction()
        } catch {
            // Without random numbers all workers merely come back at the same moment.
            return 0.5
        }
    }

    private func beat() {
        if offer != nil {
            let computing = state.computing.map { key in
                Heartbeat.Progress(
                    key: key,
                    thousandths: UInt16(
                        running.values.first { $0.lease.key == key }?.progress.thousandths ?? 0))
            }
            connection?.send(
                .heartbeat(
                    Heartbeat(
                        computing: computing, residentBytes: setup.residentBytes() ?? 0,
                        preparedBytes: loading?.progress.bytes ?? 0)))
        }
        loop.setAlarm(after: heartbeat) { [weak self] in self?.beat() }
    }

    // MARK: The connection

    func disconnected(_ reason: String) {
        attempt += 1
        connection = nil
        handshake = nil
        offer = nil
        loading?.cancel()
        strandThreads()
        handle(.disconnected(reason))
    }

    /// The connection is gone, and with it what threads wait for.
    private func strandThreads() {
        leasedHere = []
        for job in running.values where engine?.wantsState(job.lease.key) == true {
            handle(.stranded(job.lease.key))
        }
    }

    private func hangUp(_ reason: String) {
        // From here on the state hears nothing more from this connection.
        attempt += 1
        if let lookupAlarm { loop.cancel(lookupAlarm) }
        lookupAlarm = nil
        dial?.cancel()
        dial = nil
        connection?.closeAfterFlush()
        connection = nil
        handshake = nil
        offer = nil
        loading?.cancel()
        strandThreads()
    }

    /// Ends everything; nothing happens after it.
    func end() {
        hangUp("the worker ends")
        // The program may go on, and what is still being loaded is not wanted any more.
        loading?.abandon()
        loading = nil
        for job in running.values { job.progress.abandon() }
        engine?.close {}
        desk = nil
    }

    // MARK: What the state directs

    private func carryOut(_ directive: WorkerState.Directive) {
        switch directive {
        case .connect(let delay):
            loop.setAlarm(after: delay) { [weak self] in self?.startDialling() }
        case .prepare: if let offer { prepare(for: offer) }
        case .fail: if let loadingError { ending.keep(.failure(loadingError)) }
        case .askParameters(let version):
            connection?.send(.parameterRequest(ParameterRequest(version: version)))
        case .ready(let held): sendReady(held)
        case .compute(let thread, let key, _): compute(key, on: thread)
        case .abandon(let thread, let key):
            guard let job = running[thread], job.lease.key == key else { return }
            job.progress.abandon()
            engine?.wake()
        case .keep(let thread, let key):
            results[key] = made[thread]
            made[thread] = nil
        case .send(let key):
            if let result = results[key] { connection?.send(.result(result)) }
        case .forget(let key):
            leases[key] = nil
            leasedHere.remove(key)
            results[key] = nil
        case .leaveRun: leaveRun()
        case .announceDrain: connection?.send(.leave(Leave(reason: .draining)))
        case .disconnect(let reason): hangUp(reason)
        case .log(let level, let sentence): log.write(level, sentence)
        case .finish(let how): ending.keep(.success(how))
        }
    }

    private func sendReady(_ held: [WorkKey]) {
        guard let offer else { return }
        let newest = engine?.parameters.newest(of: offer.start)
        connection?.send(
            .ready(
                Ready(
                    modelDigest: modelDigest ?? offer.modelDigest,
                    dataDigest: engine?.dataDigest ?? offer.dataDigest,
                    configurationDigest: engine?.configurationDigest ?? offer.configurationDigest,
                    recipeDigest: engine?.recipeDigest ?? offer.recipeDigest,
                    answerDigest: engine?.answerDigest ?? offer.answerDigest,
                    fingerprint: engine?.fingerprint ?? Engine.fingerprint(.fp32),
                    threads: UInt16(clamping: setup.threads),
                    parameterVersion: newest?.version ?? 0,
                    parameterDigest: newest?.digest ?? Ready.noDigest, held: held)))
    }

    private func compute(_ key: WorkKey, on thread: Int) {
        guard let lease = leases[key], let offer else { return }
        let job = LeaseJob(lease: lease, start: offer.start)
        running[thread] = job
        made[thread] = nil
        start(job, on: thread)
    }
}
