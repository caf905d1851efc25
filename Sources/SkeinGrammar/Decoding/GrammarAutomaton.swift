/// The states of a network, made when they are first needed.
///
/// A state is a set of configurations (node, frame): everything that the bytes so far may mean. A frame
/// says where a subnetwork returns to: a set of (node, frame of the caller). Calls of one subnetwork
/// from several configurations at the same byte share a frame, so a state has no more configurations
/// than the network's nodes times the calls that are open, however many readings there are (as in
/// Earley's and in generalised LR parsers). Both are interned: equal states have one number. Where a
/// call counts (`TickRange`), what is left is a part of the frame, so it is another one after a tick.
///
/// Not thread-safe: `CompiledGrammar` holds the lock.
final class GrammarAutomaton {
    typealias Node = ByteNetwork.Node
    typealias State = Int32

    static let dead: State = -1
    /// There is no room for another state.
    static let full: State = -2
    private static let unknown: Int32 = -3

    /// A node, and where its subnetwork returns to. In a frame: and how many ticks it takes to return.
    struct Return: Hashable {
        var node: Node
        var frame: Int32
        var range = TickRange.any
    }

    let network: ByteNetwork
    /// Frame 0 is the end of everything; the others return to nodes with frames of lower numbers.
    var frames: [[Return]] = []
    var frameNumbers: [[Return]: Int32] = [:]
    /// The least bytes from a frame's return to the end of everything.
    var frameNeeds: [Int32] = []
    /// The same for each of its returns.
    var returnNeeds: [[Int32]] = []
    /// By frame: the one after a tick; -1: none.
    var ticked: [Int32: Int32] = [:]
    /// By frame: the one where numbers that are out of reach count as no limit.
    var endless: [Int32: Int32] = [:]

    private var states: [[UInt64]] = []
    private var stateNumbers: [[UInt64]: State] = [:]
    private(set) var facts: [Facts] = []
    /// In all states.
    private var configurations = 0
    /// For each state its row of `table`, or -1.
    private var rows: UnsafeMutablePointer<Int32>
    private var rowsCapacity: Int
    /// Rows of 256 states.
    private var table: UnsafeMutablePointer<Int32>
    private var tableRows = 0
    private var tableCapacity: Int

    /// What is known of a state.
    struct Facts {
        /// The least bytes to the end of everything.
        var need: Int32
        var isAccepting: Bool
        /// Characters that may follow in a JSON string, `Int32.max` for any number; -1 outside.
        var body: Int32
        /// The least bytes to the end by way of the string's body.
        var bodyNeed: Int32
        /// Whether the body of one string is all that it is.
        var isBodyAlone: Bool
        /// Configurations.
        var width: Int32
    }

    /// Nodes of tries that were looked at.
    var walked = 0
    /// Frames that were made anew as others were forgotten.
    var renumbered = 0
    /// The demand of the caller that asks for states now. Without it there is no room for new ones.
    var demand = Demand()

    /// Before the first byte.
    private(set) var root: State = dead

    init(_ network: ByteNetwork) {
        self.network = network
        rowsCapacity = 256
        rows = .allocate(capacity: rowsCapacity)
        tableCapacity = 64
        table = .allocate(capacity: tableCapacity * 256)
        reset()
    }

    deinit {
        rows.deallocate()
        table.deallocate()
    }

    /// States so far.
    var count: Int { states.count }

    /// Bytes of states, frames, configurations and rows, roughly.
    var byteCount: Int {
        (states.count + frames.count) * GrammarLimits.stateBytes + configurations * 8
            + tableCapacity * 1024 + rowsCapacity * 4
    }

    /// Whether much of the room is taken, so that it is time to forget everything between two tokens.
    var isCrowded: Bool {
        2 * tableRows > GrammarLimits.tableRows || 2 * states.count > GrammarLimits.states
            || 2 * frames.count > GrammarLimits.states
            || 2 * configurations > GrammarLimits.configurations
    }

    /// Forgets all states; their numbers have no meaning any more. `keepsRoom`: for as many again.
    func reset(keepsRoom: Bool = true) {
        frames = [[]]
        frameNumbers = [:]
        frameNeeds = [0]
        returnNeeds = [[0]]
        ticked = [:]
        endless = [:]
        states = []
        stateNumbers = [:]
        facts = []
        configurations = 0
        tableRows = 0
        if tableCapacity > (keepsRoom ? 1024 : 64) {
            table.deallocate()
            tableCapacity = 64
            table = .allocate(capacity: tableCapacity * 256)
        }
        if !keepsRoom, rowsCapacity > 256 {
            rows.deallocate()
            rowsCapacity = 256
            rows = .allocate(capacity: rowsCapacity)
        }
        work = [UInt64(UInt32(bitPattern: network.start)) << 32]
        // The caller that asked for more may not want it any longer, but others go on from here.
        let asked = demand
        demand = Demand()
        root = closed()
        demand = asked
    }

    /// The state after one more byte: `dead` if it is not allowed, `full` if there is no room or no
    /// demand.
    @inline(__always)
    func step(_ state: State, _ byte: UInt8) -> State {
        let row = rows[Int(state)]
        if row >= 0 {
            let next = table[Int(row) * 256 + Int(byte)]
            if next != Self.unknown { return next }
        }
        return slowStep(state, byte)
    }

    /// The bytes that are allowed after a state, ascending.
    func bytes(after state: State) -> [UInt8] {
        var allowed = [Bool](repeating: false, count: 256)
        for configuration in states[Int(state)] {
            let edges = network.places[Int(configuration >> 32)].edges
            for edge in edges where isOpen(network.edges[Int(edge)].to, configuration) {
                for byte in network.edges[Int(edge)].bytes { allowed[Int(byte)] = true }
            }
        }
        return allowed.indices.filter { allowed[$0] }.map { UInt8($0) }
    }

    /// What the bytes so far may mean.
    func configurations(of state: State) -> [Return] {
        states[Int(state)].map {
            Return(node: Node($0 >> 32), frame: Int32(truncatingIfNeeded: $0 & 0xffff_ffff))
        }
    }

    /// The only byte that is allowed after a state; nil if there are several or none.
    func onlyByte(after state: State) -> UInt8? {
        var only: UInt8?
        for configuration in states[Int(state)] {
            for edge in network.places[Int(configuration >> 32)].edges
            where isOpen(network.edges[Int(edge)].to, configuration) {
                let bytes = network.edges[Int(edge)].bytes
                guard bytes.count == 1, only == nil || only == bytes.lowerBound else { return nil }
                only = bytes.lowerBound
            }
        }
        return only
    }

    // MARK: - Making states

    /// Configurations that are still to be looked at, node << 32 | frame.
    private var work: [UInt64] = []
    private var kept: [UInt64] = []
    private var seen: Set<UInt64> = []

    private func slowStep(_ state: State, _ byte: UInt8) -> State {
        guard demand.lasts(for: 20 + states[Int(state)].count) else { return Self.full }
        advance(states[Int(state)], byte)
        let next = work.isEmpty ? Self.dead : closed()
        guard next != Self.full, let row = row(of: state) else { return Self.full }
        table[row * 256 + Int(byte)] = next
        return next
    }

    /// The state after bytes from the beginning, without a trace of the states between.
    func state(after bytes: [UInt8]) -> State {
        if bytes.isEmpty || root < 0 { return root }
        var here = states[Int(root)]
        let known = frames.count
        var crowded = known + GrammarLimits.passingFrames
        for byte in bytes.dropLast() {
            if frames.count > crowded {
                guard let moved = withoutPassingFrames(here, from: known) else { return Self.full }
                here = moved
                crowded = frames.count + roomBeforeCleaning(from: known)
            }
            advance(here, byte)
            if work.isEmpty { return Self.dead }
            guard demand.lasts(for: 20 + here.count), close() != nil else { return Self.full }
            here = kept.sorted()
        }
        advance(here, bytes[bytes.count - 1])
        return work.isEmpty ? Self.dead : closed()
    }

    /// The state that is like another one for the next `bytes` bytes, where numbers that cannot be
    /// reached with them count as no limit. So the places of a long text share their masks.
    ///
    /// `full` if there is no room for it.
    func endless(_ state: State, within bytes: Int) -> State {
        guard network.counts else { return state }
        var hasMoved = false
        var moved: Set<UInt64> = []
        for configuration in configurations(of: state) {
            guard let frame = endlessFrame(configuration.frame, within: bytes) else {
                return Self.full
            }
            hasMoved = hasMoved || frame != configuration.frame
            moved.insert(Self.key(configuration.node, frame))
        }
        guard hasMoved else { return state }
        kept = Array(moved)
        return intern(isAccepting: facts[Int(state)].isAccepting)
    }

    /// Puts what configurations lead to by a byte into `work`.
    private func advance(_ configurations: [UInt64], _ byte: UInt8) {
        work.removeAll(keepingCapacity: true)
        for configuration in configurations {
            for edge in network.places[Int(configuration >> 32)].edges {
                let edge = network.edges[Int(edge)]
                if edge.bytes.contains(byte) {
                    work.append(
                        UInt64(UInt32(bitPattern: edge.to)) << 32 | configuration & 0xffff_ffff)
                }
            }
        }
    }

    private func row(of state: State) -> Int? {
        if rows[Int(state)] >= 0 { return Int(rows[Int(state)]) }
        guard tableRows < GrammarLimits.tableRows else { return nil }
        if tableRows == tableCapacity {
            let larger = UnsafeMutablePointer<Int32>.allocate(capacity: tableCapacity * 512)
            larger.update(from: table, count: tableCapacity * 256)
            table.deallocate()
            table = larger
            tableCapacity *= 2
        }
        let row = tableRows
        tableRows += 1
        (table + row * 256).update(repeating: Self.unknown, count: 256)
        rows[Int(state)] = Int32(row)
        return row
    }

    /// The state of `work` and of all that is reached from it without a byte.
    private func closed() -> State {
        guard let isAccepting = close() else { return Self.full }
        return intern(isAccepting: isAccepting)
    }

    /// Puts the configurations of `work` and those that are reached from them without a byte into
    /// `kept`.
    ///
    /// Whether everything may end here; nil if there is no room for a frame, or no demand.
    private func close() -> Bool? {
        kept.removeAll(keepingCapacity: true)
        seen.removeAll(keepingCapacity: true)
        var isAccepting = false
        var steps = 0
        /// Calls by callee: its start and rank, and where they return to.
        var pending: [(start: Node, rank: UInt8, returns: [Return])] = []
        while true {
            while let configuration = work.popLast() {
                guard seen.insert(configuration).inserted else { continue }
                steps += 1
                if steps & 255 == 0, !demand.lasts(for: 5 * 256) { return nil }
                let node = Int(configuration >> 32)
                let frame = Int32(truncatingIfNeeded: configuration & 0xffff_ffff)
                let place = network.places[node]
                var after = frame
                if place.tick >= 0 {
                    let tick = network.ticks[Int(place.tick)]
                    guard allows(tick, frame) else { continue }
                    if tick.isTick {
                        guard let next = self.frame(afterTick: frame) else { return nil }
                        if next < 0 { continue }
                        after = next
                    }
                }
                if !place.edges.isEmpty { kept.append(configuration) }
                for skip in place.skips {
                    work.append(Self.key(network.skips[Int(skip)], after))
                }
                for call in place.calls {
                    let call = network.calls[Int(call)]
                    guard isOpen(call.to, configuration) else { continue }
                    let back = Return(node: call.to, frame: frame, range: call.range)
                    if let index = pending.firstIndex(where: { $0.start == call.start }) {
                        pending[index].returns.append(back)
                    } else {
                        pending.append((call.start, call.rank, [back]))
                    }
                }
                if place.isEnd {
                    if frame == 0 {
                        isAccepting = isAccepting || Node(node) == network.end
                    } else {
                        for back in frames[Int(frame)] where back.range.least == 0 {
                            work.append(Self.key(back.node, back.frame))
                        }
                    }
                }
            }
            // The lowest rank first: its subnetwork may call the others.
            guard let least = pending.indices.min(by: { pending[$0].rank < pending[$1].rank })
            else { break }
            let call = pending.remove(at: least)
            guard let frame = frame(of: call.returns) else { return nil }
            work.append(Self.key(call.start, frame))
        }
        return isAccepting
    }

    static func key(_ node: Node, _ frame: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: node)) << 32 | UInt64(UInt32(bitPattern: frame))
    }

    private func intern(isAccepting: Bool) -> State {
        kept.sort()
        // A state that accepts differs from one that does not.
        if isAccepting { kept.append(.max) }
        if kept.isEmpty { return Self.dead }
        if let number = stateNumbers[kept] { return number }
        guard states.count < GrammarLimits.states,
            configurations + kept.count <= GrammarLimits.configurations
        else { return Self.full }
        if isAccepting { kept.removeLast() }
        configurations += kept.count
        var facts = Facts(
            need: isAccepting ? 0 : ByteNetwork.never, isAccepting: isAccepting, body: -1,
            bodyNeed: 0, isBodyAlone: false, width: Int32(kept.count))
        for configuration in kept {
            let place = network.places[Int(configuration >> 32)]
            let frame = Int32(truncatingIfNeeded: configuration & 0xffff_ffff)
            let need = need(of: place, frame)
            facts.need = min(facts.need, need)
            if place.body >= 0 {
                let (most, mostNeed) = body(of: place, frame, need)
                facts.body = max(facts.body, most)
                facts.bodyNeed = max(facts.bodyNeed, mostNeed)
            }
        }
        facts.isBodyAlone =
            !isAccepting
            && kept.allSatisfy {
                let place = network.places[Int($0 >> 32)]
                return place.body >= 0 || place.isOfBody
            }
        let number = State(states.count)
        if states.count == rowsCapacity {
            let larger = UnsafeMutablePointer<Int32>.allocate(capacity: 2 * rowsCapacity)
            larger.update(from: rows, count: rowsCapacity)
            rows.deallocate()
            rows = larger
            rowsCapacity *= 2
        }
        rows[Int(number)] = -1
        states.append(kept)
        self.facts.append(facts)
        if isAccepting { kept.append(.max) }
        stateNumbers[kept] = number
        return number
    }
}
