import SkeinBasics
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinTensors

// Messages from the coordinator, and results from the compute threads.
extension WorkerShell {
    func receive(_ received: ReceivedMessage) {
        handle(.heard)
        let message = received.message
        switch message {
        case .challenge, .offer: greet(message)
        case .rejection(let rejection):
            handle(.rejected(rejection, isTagged: received.isTagged))
        case .modelChunk(let chunk):
            // A coordinator that sends what was not asked for fills this worker's memory.
            if loading?.receive(chunk) != true {
                hangUp(on: "a piece of the model that this worker did not ask for")
            }
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
        case .heartbeat: break
        case .parameters(let update):
            guard let offer, let engine else { return }
            if !engine.parameters.receive(update, start: offer.start) {
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
        default: hangUp(on: "\(message.type.name), which is not for a worker")
        }
    }

    /// Ends a connection whose other end breaks the protocol; the state dials again.
    private func hangUp(on what: String) {
        connection?.close()
        disconnected("the coordinator sent \(what)")
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
                handle(
                    .offered(term: offer.term, start: offer.start, isOtherRun: isOtherRun))
            }
        } catch let error as HandshakeError {
            handle(.refused(error.explanation.what))
        } catch {
            notPrepared(error)
        }
    }

    /// Tells the state whose fault it is that this worker cannot prepare.
    private func notPrepared(_ error: any Error) {
        loadingError = error
        let fault: WorkerState.PreparationFault
        switch error as? NodeError {
        case .connectionLost: fault = .connectionLost
        case .offerUnusable?: fault = .offer(explanation(of: error))
        case .some(let damage) where damage.isOfDamagedModel:
            fault = .damaged(damage.explanation.what)
        default: fault = .own
        }
        handle(.notPrepared(fault))
    }

    private func explanation(of error: any Error) -> String {
        (error as? any Explained)?.explanation.what ?? "\(error)"
    }

    /// Loads the model on a thread of its own, unless it is there already.
    func prepare(for offer: Offer) {
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

    /// An update could not be used.
    func needParameters(_ version: UInt64) {
        handle(.parametersNeeded(version: version))
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
            if let engine = loaded.engine { self.engine = engine }
            // The connection may be gone by now; the next offer finds everything loaded.
            if offer != nil { handle(.prepared) }
        case .failure(let error): notPrepared(error)
        }
    }

    /// Drops what belongs to the run that this worker leaves.
    func leaveRun() {
        modelDigest = nil
        guard let engine else { return handle(.leftRun) }
        self.engine = nil
        engine.close { [desk] in desk?.post { $0.handle(.leftRun) } }
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
