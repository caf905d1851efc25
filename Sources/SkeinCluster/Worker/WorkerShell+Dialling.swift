import SkeinBasics
import SkeinCoordination
import SkeinNetwork

// From the coordinator's name to the greeting.
extension WorkerShell {
    /// Dials; resolves the name again, except for the first time: the coordinator may run elsewhere
    /// now.
    ///
    /// If the name server is slow or gone, the known addresses are used.
    func startDialling() {
        guard hasDialled else {
            hasDialled = true
            return dialAddresses()
        }
        lookupAlarm = loop.setAlarm(after: Limits.lookup) { [weak self] in
            self?.lookupAlarm = nil
            self?.dialAddresses()
        }
        guard !isLookingUp else { return }
        isLookingUp = true
        loop.lookUp(
            { [setup] in try setup.resolve(setup.coordinator) },
            answer: { [desk] found in desk?.post { $0.lookedUp(found) } })
    }

    private func lookedUp(_ found: Result<[SocketAddress], any Error>) {
        isLookingUp = false
        // A name that cannot be resolved now may be at the next attempt.
        if case .success(let found) = found, !found.isEmpty { addresses = found }
        guard let lookupAlarm else { return }
        loop.cancel(lookupAlarm)
        self.lookupAlarm = nil
        dialAddresses()
    }

    private func dialAddresses() {
        dial = loop.dial(
            addresses, name: setup.coordinator,
            // Every address gets a turn before the state gives up the attempt.
            patience: (state.settings.handshake - Limits.lookup) / max(1, addresses.count)
        ) { [weak self] result in
            guard let self else { return }
            dial = nil
            switch result {
            case .success(let link): connected(link)
            case .failure(let error): handle(.disconnected(error.explanation.what))
            }
        }
    }

    private func connected(_ link: any Link) {
        let hello: Hello
        do {
            hello = Hello(
                minor: ProtocolVersion.minors, role: .worker, name: setup.name,
                incarnation: setup.incarnation, nonce: try randomness.bytes(32),
                software: "skein \(setup.version)")
        } catch {
            return ending.keep(.failure(error))
        }
        let handshake = WorkerHandshake(token: setup.token, hello: hello)
        self.handshake = handshake
        attempt += 1
        let number = attempt
        let connection = Connection(
            link, bounds: MessageBounds(from: .coordinator, in: .greeting), loop: loop)
        connection.onMessage = { [weak self] received in
            guard let self, attempt == number else { return }
            receive(received)
        }
        connection.onClose = { [weak self] reason in
            guard let self, attempt == number else { return }
            disconnected(reason.description)
        }
        self.connection = connection
        handle(.connected)
        connection.send(handshake.greeting)
    }
}
