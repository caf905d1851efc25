import SkeinBasics

/// A result that has arrived and is not answered.
package struct Claim: Sendable {
    package let peer: PeerID
    package let name: String
    let incarnation: [UInt8]
    let digest: [UInt8]
    /// The attempt that its worker has computed: the same of a result that is sent twice. nil: it is not known.
    let computation: UInt32?
    let since: Duration
}

/// One piece of work of the open round.
package struct Piece: Sendable {
    enum Phase: Sendable { case open, checking, accepted }

    var phase = Phase.open
    /// Who holds a lease on it, at most two.
    var holders: [PeerID] = []
    var attempts: UInt32 = 0
    /// Names that have ever had a lease of it.
    var leased: [String] = []
    /// Whether the heap of returned work has it.
    var isReturned = false
    /// The accepted result's digest, and who computed it.
    var digest: [UInt8] = []
    var computedBy = ""
    /// Whether the run had recorded the same before.
    var isConfirmed = false

    var isUnleased: Bool { phase == .open && holders.isEmpty }
}

/// What only few pieces have.
package struct PieceHistory: Sendable {
    var checking: Claim?
    /// In order of arrival, after the one that is being checked.
    package internal(set) var waiting: [Claim] = []
    /// Names whose results of it were not used: others go first.
    private(set) var avoided: [String] = []
    var doubtful: [(name: String, digest: [UInt8], detail: String, computation: UInt32?)] = []
    var refusals = 0
    /// When the first result of it was refused.
    var refusedSince: Duration?
    /// When a worker first could not rebuild the state from which it starts.
    var notRebuiltSince: Duration?
    /// Names of those that could not.
    private(set) var notRebuilt: [String] = []
    /// The worker that it was last taken from.
    var releasedBy: String?

    /// Names are cheap: only this many of those that are gone are kept.
    private static let mostAvoided = 64

    mutating func avoid(_ name: String, isHere: (String) -> Bool) {
        Self.add(name, to: &avoided, isHere: isHere)
    }

    mutating func noteNotRebuilt(_ name: String, isHere: (String) -> Bool) {
        Self.add(name, to: &notRebuilt, isHere: isHere)
        avoid(name, isHere: isHere)
    }

    private static func add(
        _ name: String, to names: inout [String], isHere: (String) -> Bool
    ) {
        guard !names.contains(name) else { return }
        names.append(name)
        guard names.count > mostAvoided else { return }
        names.remove(at: names.firstIndex { !isHere($0) } ?? 0)
    }
}

/// A piece with different results, while other workers are asked.
struct Dispute: Sendable {
    /// Each name's result, once; the accepted one first.
    var votes: [(name: String, digest: [UInt8])]
    /// Who computes it now; nil: no judge is chosen yet.
    var judge: PeerID?
    /// When the judge was asked.
    var askedAt = Duration.zero
    /// Names that were asked to compute it: each of them once.
    var asked: [String] = []
}

/// The round that is being computed.
package struct RoundState: Sendable {
    /// A piece at a worker.
    package struct Place: Sendable, Equatable {
        let peer: PeerID
        let index: Int
    }

    let round: RoundPlan
    let opened: Duration
    /// Tokens of a piece.
    let meanCost: Double
    /// Whether there have been enough workers.
    package internal(set) var begun = false
    package private(set) var pieces: [Piece]
    /// By index; entries go when their piece is accepted.
    package internal(set) var histories: [Int: PieceHistory] = [:]
    /// Results that have arrived and are not checked, over all workers.
    package internal(set) var unchecked = 0
    /// Finished results that their workers keep because there is no room here, the oldest first.
    package internal(set) var postponed: [Place] = []
    /// Those of them that were asked for again and have not come, and since when: room is kept.
    package internal(set) var recalled: [(place: Place, since: Duration)] = []
    /// Disputed pieces, by index.
    var disputes: [Int: Dispute] = [:]
    /// Ended disputes, by index.
    var formerDisputes: [Int: Dispute] = [:]
    private(set) var unleased: Int
    var remaining: Int
    /// Everything before it has been leased once; what is free again is in `returned`.
    private var cursor = 0
    private var returned = IndexHeap()

    init(_ round: RoundPlan, now: Duration) {
        self.round = round
        opened = now
        meanCost = Double(round.costs.reduce(0, +)) / Double(max(1, round.costs.count))
        pieces = Array(repeating: Piece(), count: round.costs.count)
        unleased = round.costs.count
        remaining = round.costs.count
    }

    var isComplete: Bool { remaining == 0 }

    /// Results that may wait for their check: each piece has at most two holders.
    package func room(_ settings: CoordinatorSettings) -> Int {
        min(settings.maximumUnchecked, 2 * pieces.count + 2)
    }

    func key(_ index: Int) -> WorkKey {
        WorkKey(round: round.number, index: UInt32(index))
    }

    /// The index of a key of this round; nil: this round has no such work.
    func index(_ key: WorkKey) -> Int? {
        key.round == round.number && Int(key.index) < pieces.count ? Int(key.index) : nil
    }

    func cost(_ index: Int) -> Double { Double(max(1, round.costs[index])) }

    /// Changes a piece and counts the unleased ones.
    mutating func change(_ index: Int, _ change: (inout Piece) -> Void) {
        let before = pieces[index].isUnleased
        change(&pieces[index])
        let after = pieces[index].isUnleased
        if before, !after { unleased -= 1 }
        if !before, after {
            unleased += 1
            giveBack(index)
        }
    }

    private mutating func giveBack(_ index: Int) {
        guard index < cursor, !pieces[index].isReturned else { return }
        pieces[index].isReturned = true
        returned.push(index)
    }

    /// The first unleased piece that `isAllowed` lets through; it must be leased at once.
    mutating func next(where isAllowed: (Int) -> Bool) -> Int? {
        var aside: [Int] = []
        var found: Int?
        while unleased > aside.count, found == nil {
            while cursor < pieces.count, !pieces[cursor].isUnleased { cursor += 1 }
            let index: Int
            if let top = returned.top, top < cursor {
                index = top
                _ = returned.pop()
                pieces[index].isReturned = false
            } else if cursor < pieces.count {
                index = cursor
                cursor += 1
            } else {
                break
            }
            guard pieces[index].isUnleased else { continue }
            if isAllowed(index) { found = index } else { aside.append(index) }
        }
        for index in aside { giveBack(index) }
        return found
    }
}
