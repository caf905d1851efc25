/// Which parameters are sent to which worker, and which leases wait for them.
///
/// A worker gets parameters when it joins and before its work, at no other time. None are queued
/// behind others that have not left: on a slow line a version each step would pile up, all but the
/// newest in vain. What a worker has is known by its bytes: it names them by SHA-256, and a version
/// that it names otherwise than this coordinator does counts as none.
package struct ParameterQueue: Sendable {
    /// The run's newest parameters, as the shell can send them.
    package struct Publication: Sendable, Equatable {
        package var version: UInt64
        /// SHA-256 of the parameters.
        package var digest: [UInt8]
        /// SHA-256 of the versions before it from which differences lead here, the oldest first; the
        /// last one is that of `version - 1`.
        package var bases: [[UInt8]]
        /// Whether it is encoded in full.
        package var hasWhole: Bool

        package init(version: UInt64, digest: [UInt8], bases: [[UInt8]], hasWhole: Bool) {
            self.version = version
            self.digest = digest
            self.bases = bases
            self.hasWhole = hasWhole
        }

        /// Whether a worker that has `old` needs only differences.
        package func hasDifferences(from old: UInt64) -> Bool {
            old > 0 && old <= version && version - old <= UInt64(bases.count)
        }

        /// SHA-256 of a version; nil: it is not known any more, or never was.
        func digest(of old: UInt64) -> [UInt8]? {
            if old == version { return digest }
            return hasDifferences(from: old) ? bases[bases.count - Int(version - old)] : nil
        }
    }

    /// What the shell must do, in this order.
    package enum Directive: Sendable, Equatable {
        /// Send what leads from version `from` to the newest one; 0: the newest in full.
        case parameters(PeerID, from: UInt64)
        /// Send this lease.
        case lease(PeerID, WorkKey, attempt: UInt32)
        /// Have this version encoded in full, and publish it again then.
        case wholeWanted(version: UInt64)
        /// Hang up.
        case refuse(PeerID, Rejection)
    }

    /// A worker that has joined.
    private struct Taker: Sendable {
        /// The version that it has or is being sent.
        var version: UInt64 = 0
        /// Whether parameters have not left yet.
        var isTaking = false
        /// Whether a version in full is among them.
        var isTakingWhole = false
        /// Whether it asked for one while one was being sent.
        var asksAgain = false
        /// Whether it gets the newest parameters as soon as possible, with or without work.
        var wants = false
        /// How often it has asked for which version in full.
        var wholes: (version: UInt64, count: Int) = (0, 0)
        /// Leases that wait for their parameters.
        var waiting: [(key: WorkKey, attempt: UInt32)] = []
    }

    private var takers: [PeerID: Taker] = [:]
    private var newest: Publication?
    /// The version that was asked for in full.
    private var wholeAsked: UInt64 = 0
    private var pending: [Directive] = []

    package init() {}

    /// The version that a worker has or is being sent; 0: none.
    package func version(of peer: PeerID) -> UInt64 { takers[peer]?.version ?? 0 }

    /// The version that waits on this side of a worker's connection; nil: none does.
    package func underWay(to peer: PeerID) -> UInt64? {
        takers[peer].flatMap { $0.isTaking ? $0.version : nil }
    }

    /// Leases that wait for their parameters.
    package func waiting(for peer: PeerID) -> [WorkKey] {
        takers[peer]?.waiting.map(\.key) ?? []
    }

    /// A round begins with these parameters, or they are encoded in full now.
    package mutating func publish(_ publication: Publication) -> [Directive] {
        newest = publication
        for peer in takers.keys.sorted() where takers[peer]?.wants == true { bring(to: peer) }
        return take()
    }

    /// A worker has joined, with `version` of this coordinator's parameters by its own account.
    package mutating func joined(
        _ peer: PeerID, version: UInt64, digest: [UInt8]
    ) -> [Directive] {
        var taker = Taker()
        if version > 0, newest?.digest(of: version) == digest { taker.version = version }
        takers[peer] = taker
        // Before its first work, which may come at any moment.
        bring(to: peer)
        return take()
    }

    /// A worker is to be sent a lease.
    package mutating func lease(
        _ peer: PeerID, _ key: WorkKey, attempt: UInt32
    ) -> [Directive] {
        guard takers[peer] != nil else { return [] }
        bring(to: peer)
        if let newest, takers[peer]?.version == newest.version {
            pending.append(.lease(peer, key, attempt: attempt))
        } else {
            takers[peer]?.waiting.append((key, attempt))
        }
        return take()
    }

    /// A lease is taken back.
    ///
    /// - Returns: whether the worker has heard of it. One that has not would take a cancellation for
    ///   one that overtook its lease, and drop the next lease of this work.
    package mutating func cancelled(_ peer: PeerID, _ key: WorkKey) -> Bool {
        guard let place = takers[peer]?.waiting.firstIndex(where: { $0.key == key }) else {
            return true
        }
        takers[peer]?.waiting.remove(at: place)
        return false
    }

    /// A round is over. Without work no worker needs parameters; a worker without any still gets its
    /// first.
    package mutating func endRound() {
        for peer in takers.keys {
            takers[peer]?.waiting = []
            if let version = takers[peer]?.version, version > 0 { takers[peer]?.wants = false }
        }
    }

    package mutating func left(_ peer: PeerID) { takers[peer] = nil }

    /// The system has taken all that waited for a worker.
    package mutating func drained(_ peer: PeerID) -> [Directive] {
        guard let taker = takers[peer] else { return [] }
        takers[peer]?.isTaking = false
        takers[peer]?.isTakingWhole = false
        if taker.asksAgain { bringWhole(to: peer) } else if taker.wants { bring(to: peer) }
        return take()
    }

    /// A worker asks for parameters in full, once for each update that it could not use.
    package mutating func wholeWanted(by peer: PeerID) -> [Directive] {
        guard let taker = takers[peer] else { return [] }
        // The one that is due to it answers this request, too.
        if taker.wants, taker.version == 0 { return [] }
        // One that is under way may have arrived, and be the one that it could not use.
        if taker.isTakingWhole {
            takers[peer]?.asksAgain = true
        } else {
            bringWhole(to: peer)
        }
        return take()
    }

    private mutating func take() -> [Directive] {
        defer { pending = [] }
        return pending
    }

    /// Sends the newest parameters, unless the worker has them, and then the leases that wait.
    private mutating func bring(to peer: PeerID) {
        guard let newest, let taker = takers[peer] else { return }
        if taker.version != newest.version {
            takers[peer]?.wants = true
            guard !taker.isTaking else { return }
            let isWhole = !newest.hasDifferences(from: taker.version)
            guard !isWhole || newest.hasWhole else {
                if wholeAsked != newest.version {
                    wholeAsked = newest.version
                    pending.append(.wholeWanted(version: newest.version))
                }
                return
            }
            pending.append(.parameters(peer, from: isWhole ? 0 : taker.version))
            takers[peer]?.isTaking = true
            takers[peer]?.isTakingWhole = isWhole
            takers[peer]?.version = newest.version
        }
        takers[peer]?.wants = false
        for lease in taker.waiting {
            pending.append(.lease(peer, lease.key, attempt: lease.attempt))
        }
        takers[peer]?.waiting = []
    }

    /// Sends the newest version in full. Asking is cheap and the answer is not, so a version is sent in
    /// full only a few times.
    private mutating func bringWhole(to peer: PeerID) {
        takers[peer]?.asksAgain = false
        let version = newest?.version ?? 0
        if takers[peer]?.wholes.version != version { takers[peer]?.wholes = (version, 0) }
        takers[peer]?.wholes.count += 1
        let count = takers[peer]?.wholes.count ?? 0
        guard count <= Limits.wholesOfVersion else {
            let reason = "it asked \(count) times for the same parameters"
            pending.append(
                .refuse(peer, Rejection(code: .protocolViolation, reason: reason)))
            return
        }
        takers[peer]?.version = 0
        bring(to: peer)
    }
}
