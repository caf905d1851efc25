import Basics

/// A result that is here and not answered.
struct Candidate: Sendable {
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
    /// Whether the heap of given back work has it.
    var isReturned = false
    /// Of the accepted result, and whose it was.
    var digest: [UInt8] = []
    var computedBy = ""

    var isUnleased: Bool { phase == .open && holders.isEmpty }
}

/// What few pieces have.
struct PieceHistory: Sendable {
    var checking: Candidate?
    /// In order of arrival, behind the one that is being checked.
    var waiting: [Candidate] = []
    /// Names whose results of it were not taken: others go first.
    var avoided: [String] = []
    var notFinite: [(name: String, digest: [UInt8])] = []
    var refusals = 0
    /// Whom it was taken from last.
    var releasedBy: String?
}

/// The round that is being computed.
struct OpenRound: Sendable {
    let round: Round
    let opened: Duration
    /// As many workers as wanted have been there.
    var begun = false
    private(set) var pieces: [Piece]
    /// By index; entries go when their piece is accepted.
    var histories: [Int: PieceHistory] = [:]
    /// Indices of results that are being checked, the oldest first, with gaps.
    var unchecked = 0
    private(set) var unleased: Int
    var remaining: Int
    /// Everything before has been leased once; what came back is in `returned`.
    private var cursor = 0
    private var returned = IndexHeap()

    init(_ round: Round, now: Duration) {
        self.round = round
        opened = now
        pieces = Array(repeating: Piece(), count: round.costs.count)
        unleased = round.costs.count
        remaining = round.costs.count
    }

    var isComplete: Bool { remaining == 0 }

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
