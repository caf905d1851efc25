import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinSockets
import SkeinTensors

// Messages from the coordinator, and results from the compute threads.
extension WorkerShell {
    func receive(_ message: Message) {
        handle(.heard)
        switch message {
        case .challenge, .offer: greet(message)
        case .rejection(let rejection): handle(.rejected(rejection))
        case .modelChunk(let chunk): loading?.receive(chunk)
        case .welcome(let welcome):
            heartbeat = .milliseconds(min(max(welcome.heartbeatMilliseconds, 50), 10_000))
            connection?.bounds = MessageBounds(
                from: .coordinator, in: .serving,
                parameterPayloadBytes: engine?.mostParameterBytes ?? 0,
                replayBytes: engine?.mostReplayBytes ?? 0)
            // All results that the state keeps may be sent at once.
            connection?.pendingLimit =
                Limits.pendingBytes + state.keptResults * (engine?.mostGradientBytes ?? 0)
            if !hasToldReady { ReadyLine.tell(log) }
            hasToldReady = true
            handle(.welcomed(welcome))
            if let version = versionNeeded { needParameters(version) }
        case .heartbeat: break
        case .parameters(let update):
            guard let offer, let engine else { return }
            if !engine.parameters.receive(update, term: offer.term) {
                needParameters(update.version)
            }
        case .lease(let lease):
            // The state may refuse it at once, by `forget`.
            leases[lease.key] = lease
            leasedHere.insert(lease.key)
            handle(.leased(lease.key, attempt: lease.attempt))
        case .stateReplay(let replay): engine?.receive(replay)
        case .cancellation(let cancellation): handle(.cancelled(cancellation.key))
        case .answer(let answer):
            handle(.answered(answer.key, answer.verdict, answer.detail))
        case .leave(let leave): handle(.dismissed(leave))
        default:
            connection?.close()
            disconnected("the coordinator sent \(message.type.name), which is not for a worker")
        }
    }

    private func greet(_ message: Message) {
        guard var handshake else { return }
        do {
            let outcome = try handshake.receive(message)
            self.handshake = handshake
            switch outcome {
            case .nothing: break
            case .answered(let reply, let keys):
                connection?.send(reply)
                connection?.authenticate(
                    receiving: keys.coordinatorToWorker, sending: keys.workerToCoordinator)
                connection?.bounds = MessageBounds(from: .coordinator, in: .proof)
            case .offered(let offer):
                self.offer = offer
                connection?.term = offer.term
                connection?.bounds = MessageBounds(from: .coordinator, in: .joining)
                let isOtherRun = engine.map { !$0.serves(offer) } ?? false
                if !isOtherRun { try engine?.adopt(offer) }
                handle(.offered(term: offer.term, isOtherRun: isOtherRun))
                prepare(for: offer)
            }
        } catch HandshakeError.rejected(let rejection) {
            handle(.rejected(rejection))
        } catch let error as HandshakeError {
            fail(error)
        } catch {
            ending.keep(.failure(error))
        }
    }

    /// Ends the worker: another attempt would fail in the same way.
    func fail(_ error: HandshakeError) {
        ending.keep(
            .failure(NodeError.refused(address: setup.coordinator.description, error: error)))
    }

    /// Loads the model on a thread of its own, unless it is there already.
    private func prepare(for offer: Offer) {
        // The last run's engine must go first: there may be no room for both.
        guard !isLeaving else { return }
        guard engine == nil, modelDigest == nil || modelDigest == offer.modelDigest else {
            return handle(.prepared)
        }
        // Begun on an earlier connection: a second one would double the memory and the time.
        if let loading, loading.serves(offer) { return }
        loading?.abandon()
        let desk = desk
        let loading = makeLoading(offer)
        self.loading = loading
        // A fetch ends with its connection: the next coordinator must not get its last requests.
        let number = attempt
        loading.start(
            request: { request in
                desk?.post { $0.ask(request, on: number) }
            },
            completion: { result in
                desk?.post { $0.loaded(result, by: loading) }
            })
    }

    /// Asks for a piece of the model, if the connection is still the same one.
    func ask(_ request: ModelRequest, on number: Int) {
        guard attempt == number else { return }
        connection?.send(.modelRequest(request))
    }

    /// Asks for the parameters in full. Only a member may: before READY, that message says what
    /// this worker has; after it, the request waits for WELCOME.
    func needParameters(_ version: UInt64) {
        versionNeeded = state.isMember ? nil : version
        guard state.isMember else { return }
        connection?.send(.parameterRequest(ParameterRequest(version: version)))
    }

    /// Asks for what rebuilds the state of a lease. Only the connection that brought the lease has the
    /// answer.
    private func needState(_ key: WorkKey) {
        guard state.isMember, leasedHere.contains(key) else { return stopWaiting(for: key) }
        connection?.send(.stateRequest(StateRequest(key: key)))
    }

    /// The thread that waits for what rebuilds the state of this lease waits in vain: the connection is
    /// gone. If the lease comes again, another thread begins, and asks.
    private func stopWaiting(for key: WorkKey) {
        handle(.stranded(key))
    }

    private func loaded(
        _ result: Result<LoadedEngine, any Error>, by loading: any EngineLoading
    ) {
        guard self.loading === loading else { return }
        self.loading = nil
        switch result {
        case .success(let loaded):
            modelDigest = loaded.modelDigest
            if let engine = loaded.engine { use(engine) }
            // The connection may be gone by now; the next offer finds everything loaded.
            if offer != nil { handle(.prepared) }
        case .failure(let error as NodeError) where error == .connectionLost:
            // There may be a new connection already.
            if let offer { prepare(for: offer) }
        case .failure(let error as NodeError) where error.isOfDamagedModel && !hasFetchedAnew:
            // Part of it may be left over from an earlier attempt. Twice is the coordinator's
            // fault.
            hasFetchedAnew = true
            log.warning("\(error.explanation.what); it has been removed and is fetched again")
            if let offer { prepare(for: offer) }
        case .failure(let error): ending.keep(.failure(error))
        }
    }

    /// Drops what belongs to the run that this worker leaves.
    func leaveRun() {
        modelDigest = nil
        hasFetchedAnew = false
        guard let engine else { return }
        self.engine = nil
        isLeaving = true
        engine.close { [desk] in desk?.post { $0.threadsHaveLeft() } }
    }

    private func threadsHaveLeft() {
        isLeaving = false
        if let offer { prepare(for: offer) }
    }

    private func use(_ engine: any LeaseEngine) {
        self.engine = engine
        hasFetchedAnew = false
    }

    /// Starts a job for the thread of this number; the state gives a thread one job at a time.
    func start(_ job: LeaseJob, on thread: Int) {
        guard let engine else { return }
        engine.start(
            job, needParameters: { [desk] version in desk?.post { $0.needParameters(version) } },
            needState: { [desk] key in desk?.post { $0.needState(key) } },
            ended: { [desk] outcome in
                desk?.post { $0.ended(thread, job, outcome, by: engine) }
            })
    }

    private func ended(
        _ thread: Int, _ job: LeaseJob,
        _ outcome: Result<WorkResult?, any Error>, by engine: any LeaseEngine
    ) {
        running[thread] = nil
        guard engine === self.engine else {
            // The job is of a run that this worker has left.
            return handle(.abandoned(thread: thread, job.lease.key))
        }
        switch outcome {
        case .success(let result?):
            made[thread] = result
            handle(.computed(thread: thread, job.lease.key))
        case .success(nil): handle(.abandoned(thread: thread, job.lease.key))
        case .failure(let error): ending.keep(.failure(error))
        }
    }
}
