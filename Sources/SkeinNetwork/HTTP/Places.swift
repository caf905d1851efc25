/// Who leaves when there is not room for all: connections by what they do. Pure.
///
/// For a place, those leave first that were answered for the last time, then strangers that wait,
/// then the slowest of the strangers that send a body or take an answer, then known clients that wait,
/// then the slowest body of a known one. Clients that the site works for stay, and so do known
/// ones that take an answer: it was made for them already.
struct Places {
    /// What a connection does.
    enum Occupation {
        /// Waits for a request, has begun none or the head of one.
        case waiting
        /// Sends a body.
        case body
        /// Waits for an answer or takes one.
        case busy
        /// Was answered for the last time.
        case lingering
    }

    /// What is known of a client.
    struct Client {
        /// Where it is; see `SocketAddress.network`.
        var network: [UInt8]
        var isKnown: Bool
        /// See `Pace`.
        var pace: Double
        /// Bytes of a body that are held.
        var bodyBytes: Int
        /// Bytes that are held for it.
        var waitingBytes: Int
    }

    private var lingering = WaitingQueue()
    /// Who has waited longest is first.
    private var strangers = WaitingQueue()
    private var acquaintances = WaitingQueue()
    /// Who has sent nothing for longest is first.
    private var bodies = WaitingQueue()
    /// Those for whom bytes wait. Who has taken none for longest is first.
    private var takers = WaitingQueue()

    mutating func place(_ slot: Int, _ occupation: Occupation, isKnown: Bool) {
        if occupation != .lingering { lingering.leave(slot) }
        strangers.leave(slot)
        acquaintances.leave(slot)
        if occupation != .body { bodies.leave(slot) }
        switch occupation {
        case .waiting where isKnown: acquaintances.join(slot)
        case .waiting: strangers.join(slot)
        case .body: bodies.join(slot)
        case .busy: break
        case .lingering: lingering.join(slot)
        }
    }

    /// Notes whether bytes wait for a client.
    mutating func waits(_ slot: Int, _ waits: Bool, hasTaken: Bool) {
        if !waits {
            takers.leave(slot)
        } else if hasTaken || !takers.contains(slot) {
            takers.join(slot)
        }
    }

    mutating func leave(_ slot: Int) {
        place(slot, .busy, isKnown: false)
        takers.leave(slot)
    }

    /// Who leaves for another; nil: all are needed.
    func dispensable(_ client: (Int) -> Client) -> Int? {
        if let slot = lingering.first ?? crowded(strangers, client) { return slot }
        let slow = [bodies, takers].compactMap { slowest($0, isKnown: false, client) }
        if let slot = slow.min(by: { $0.pace < $1.pace })?.slot { return slot }
        return crowded(acquaintances, client) ?? slowest(bodies, isKnown: true, client)?.slot
    }

    /// Among those that have waited longest, the first one of the host that has most of them: a
    /// host that opens connections without end loses its own.
    private func crowded(_ queue: WaitingQueue, _ client: (Int) -> Client) -> Int? {
        var counts: [[UInt8]: Int] = [:]
        for slot in queue.prefix(Limits.crowd) { counts[client(slot).network, default: 0] += 1 }
        let most = counts.values.max()
        return queue.first { counts[client($0).network] == most }
    }

    /// The slowest of those that have done nothing for longest.
    private func slowest(
        _ queue: WaitingQueue, isKnown: Bool, _ client: (Int) -> Client
    ) -> (slot: Int, pace: Double)? {
        queue.prefix(Limits.crowd).map { ($0, client($0)) }.filter { $0.1.isKnown == isKnown }
            .min { $0.1.pace < $1.1.pace }.map { ($0.0, $0.1.pace) }
    }

    /// The slowest body of those that hold more than a little, which is less than a quarter of their
    /// share: refusing one of them would free nothing, and what a request usually sends is not refused
    /// for those that hold much. Strangers' bodies first.
    func slowestBody(besides newcomer: Int, holding all: Int, _ client: (Int) -> Client) -> Int? {
        let little = all / max(1, bodies.count) / 4
        var found: (slot: Int, client: Client)?
        for slot in bodies.prefix(bodies.count) where slot != newcomer {
            let next = client(slot)
            guard next.bodyBytes > little else { continue }
            if let best = found?.client {
                guard (next.isKnown ? 1 : 0, next.pace) < (best.isKnown ? 1 : 0, best.pace)
                else { continue }
            }
            found = (slot, next)
        }
        return found?.slot
    }

    /// Who has taken nothing for longest of those for whom more than a little waits; the last one's
    /// answer may have any length. Strangers first.
    func slowestTaker(holding all: Int, _ client: (Int) -> Client) -> Int? {
        guard takers.count > 1 else { return nil }
        let little = all / takers.count / 4
        return takers.first {
            let taker = client($0)
            return !taker.isKnown && taker.waitingBytes > little
        } ?? takers.first { client($0).waitingBytes > little } ?? takers.first
    }
}
