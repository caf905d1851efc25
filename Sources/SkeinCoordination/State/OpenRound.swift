import SkeinBasics

/// A result that is here and not answered.
struct Claim: Sendable {
    let peer: PeerID
    let name: String
    let digest: [UInt8]
    let since: Duration
}

/// One piece of work of the open round.
struct Piece: Sendable {
    enum Phase: Sendable { case open, checking, accepted }

    var phase = Phase.open
    /// Who has a lease of it, at most two.
    var holders: [PeerID] = []
    var attempts: UInt32 = 0
    /// Names that have ever had a lease of it.
    var leased: [String] = []
    /// Whether the heap of given back work has it.
    var isReturned = false
    /// Of the accepted result, and whose it was.
    var digest: [UInt8] = []
    var computedBy = ""

    var isUnleased: Bool { phase == .open && holders.isEmpty }
}

/// What few pieces have.
struct PieceHistory: Sendable {
    var checking: Claim?
    /// In order of arrival, behind the one that is being checked.
    var waiting: [Claim] = []
    /// Names whose results of it were not taken: others go first.
    private(set) var avoided: [String] = []
    var notFinite: [(name: String, digest: [UInt8])] = []
    var refusals = 0
    /// When the first result of it was refused.
    var refusedSince: Duration?
    /// Whom it was taken from last.
    var releasedBy: String?

    /// Names are cheap: of those that are gone only so many are kept.
    private static let mostAvoided = 64

    mutating func avoid(_ name: String, isHere: (String) -> Bool) {
        guard !avoided.contains(name) else { return }
        avoided.append(name)
        guard avoided.count > Self.mostAvoided else { return }
        avoided.remove(at: avoided.firstIndex { !isHere($0) } ?? 0)
    }
}

/// A piece that workers gave different results of, while others are asked.
struct Dispute: Sendable {
    /// Who said what, a name once; the accepted one first.
    var votes: [(name: String, digest: [UInt8])]
    /// Who computes it now; nil: somebody is to be found.
    var judge: PeerID?
    /// When that one was asked.
    var askedAt = Duration.zero
    /// Names that were asked to compute it: each of them once.
    var asked: [String] = []
}

/// The round that is being computed.
struct OpenRound: Sendable {
    /// A piece at a worker.
    struct Place: Sendable, Equatable {
        let peer: PeerID
        let index: Int
    }

    let round: Round
    let opened: Duration
    /// Tokens of a piece.
    let meanCost: Double
    /// As many workers as wanted have been there.
    var begun = false
    private(set) var pieces: [Piece]
    /// By index; entries go when their piece is accepted.
    var histories: [Int: PieceHistory] = [:]
    /// Results that are here and not checked, over all workers.
    var unchecked = 0
    /// Finished results that their workers keep for want of room here, the oldest first.
    var postponed: [Place] = []
    /// Of those, what has been asked for again and has not come, and since when: room is kept for it.
    var recalled: [(place: Place, since: Duration)] = []
    /// By index.
    var disputes: [Int: Dispute] = [:]
    /// Those that have ended, by index.
    var formerDisputes: [Int: Dispute] = [:]
    private(set) var unleased: Int
    var remaining: Int
    /// Everything before has been leased once; what came back is in `returned`.
    private var cursor = 0
    private var returned = IndexHeap()

    init(_ round: Round, now: Duration) {
        self.round = round
        opened = now
        meanCost = Double(round.costs.reduce(0, +)) / Double(max(1, round.costs.count))
        pieces = Array(repeating: Piece(), count: round.costs.count)
        unleased = round.costs.count
        remaining = round.costs.count
    }

    var isComplete: Bool { remaining == 0 }

    /// Results that may wait for their check: each piece has two holders at most.
    func room(_ settings: CoordinatorSettings) -> Int {
        min(settings.maximumUnchecked, 2 * pieces.count + 2)
    }

    func key(_ index: Int) -> WorkKey {
        WorkKey(round: round.number, index: UInt32(index))
    }

    /// The index of a key of this round; nil: there is no such work here.
    func index(_ key: WorkKey) -> Int? {
        key.round == round.number && Int(key.index) < pieces.count ? Int(key.index) : nil
    }

    func cost(_ index: Int) -> Double { Double(max(1, round.costs[index])) }

    /// Changes a piece and keeps count of what nobody has.
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

    /// The first unleased piece that `isAllowed` lets through; it has to be leased at once.
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
