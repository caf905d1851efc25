/// A recursive transition network over bytes while it is built: nodes, edges of bytes, and calls of
/// subnetworks, which are entered at one node and left at another.
///
/// A subnetwork is built once and called from anywhere, itself included, so that a recursive schema
/// is a finite network. Each has a rank. **A call before the first byte of a subnetwork goes to a
/// higher rank**, so none can call itself without a byte between; `ByteNetwork` relies on it.
struct NetworkBuilder {
    typealias Node = Int32

    /// A subnetwork: where it is entered and left.
    struct Subnetwork: Hashable {
        let start: Node
        let end: Node
        let rank: Rank
    }

    /// Lower ones call higher ones.
    enum Rank: UInt8, Comparable {
        case document, value, text, character

        static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
    }

    struct Edge: Hashable {
        var bytes: ClosedRange<UInt8>
        var to: Node
    }

    struct Call: Hashable {
        var callee: Subnetwork
        var to: Node
        /// The range of a callee that counts.
        var range = TickRange.any
    }

    private(set) var edges: [[Edge]] = []
    private(set) var skips: [[Node]] = []
    private(set) var calls: [[Call]] = []
    /// Ends of subnetworks.
    private(set) var ends: Set<Node> = []
    /// Bodies of JSON strings: how many characters may still follow; nil: any number.
    private(set) var bodies: [Node: Int?] = [:]
    /// Where the subnetwork begins that those bodies call for a character that is no plain ASCII.
    var bodyCharacters: Node?
    /// Nodes of subnetworks that count.
    private(set) var ticks: [Node: TickPlace] = [:]
    /// Up to here, what is counted has a node each.
    let unrolled: Int
    /// Whether there were more nodes than allowed, or they are no longer wanted. What was built is
    /// of no use then.
    private(set) var isTooLarge = false
    private let demand: Demand

    init(_ demand: Demand = Demand(), unrolled: Int = GrammarLimits.unrolledCount) {
        self.unrolled = unrolled
        self.demand = demand
    }

    mutating func node() -> Node {
        guard edges.isEmpty || edges.count < GrammarLimits.nodes && demand.lasts(for: 100) else {
            isTooLarge = true
            return Node(edges.count - 1)
        }
        edges.append([])
        skips.append([])
        calls.append([])
        return Node(edges.count - 1)
    }

    /// States that there would be too many nodes.
    mutating func refuse() { isTooLarge = true }

    /// From one node to another by any byte of a range.
    mutating func edge(_ from: Node, _ bytes: ClosedRange<UInt8>, _ to: Node) {
        edges[Int(from)].append(Edge(bytes: bytes, to: to))
    }

    /// From one node to another by one byte.
    mutating func edge(_ from: Node, _ byte: UInt8, _ to: Node) {
        edge(from, byte...byte, to)
    }

    /// From one node to another without a byte.
    mutating func skip(_ from: Node, _ to: Node) {
        skips[Int(from)].append(to)
    }

    /// From one node to another by some bytes, one after the other.
    mutating func text(_ from: Node, _ bytes: some Collection<UInt8>, _ to: Node) {
        var here = from
        for (index, byte) in bytes.enumerated() {
            let next = index == bytes.count - 1 ? to : node()
            edge(here, byte, next)
            here = next
        }
        if bytes.isEmpty { skip(from, to) }
    }

    /// From one node to another by any word of a subnetwork.
    mutating func call(_ from: Node, _ callee: Subnetwork, _ to: Node) {
        calls[Int(from)].append(Call(callee: callee, to: to))
    }

    /// From one node to another by those words of a subnetwork with so many ticks.
    mutating func call(_ from: Node, _ callee: Subnetwork, _ to: Node, _ range: TickRange) {
        calls[Int(from)].append(Call(callee: callee, to: to, range: range))
    }

    /// States that a node stands in a subnetwork that counts.
    mutating func mark(_ node: Node, _ place: TickPlace) { ticks[node] = place }

    /// A node from which one gets to another by a tick, without a byte.
    mutating func tick(
        to node: Node, _ ticks: ClosedRange<Int32>, lapStart: Node? = nil
    ) -> Node {
        let tick = self.node()
        mark(tick, TickPlace(ticks: ticks, isTick: true, lapStart: lapStart))
        skip(tick, node)
        return tick
    }

    /// An empty subnetwork. Its words must not be empty; it is filled by the caller.
    mutating func subnetwork(_ rank: Rank) -> Subnetwork {
        let subnetwork = Subnetwork(start: node(), end: node(), rank: rank)
        ends.insert(subnetwork.end)
        return subnetwork
    }

    /// A subnetwork of one or more rounds, each a word of a subnetwork that begins with an edge. Its
    /// ticks are rounds.
    mutating func loop(_ round: Subnetwork) -> Subnetwork {
        let loop = subnetwork(.value)
        mark(loop.start, TickPlace(ticks: 1 ... .max, lapStart: loop.start))
        mark(loop.end, TickPlace(ticks: 0...0))
        let after = node()
        mark(after, TickPlace(ticks: 0 ... .max, lapStart: loop.start))
        call(loop.start, round, tick(to: after, 1 ... .max, lapStart: loop.start))
        skip(after, loop.end)
        skip(after, loop.start)
        return loop
    }

    /// States that a node is the end of a subnetwork.
    mutating func markEnd(_ node: Node) { ends.insert(node) }

    /// States that a node is the body of a JSON string without further conditions: any character
    /// leads from here to a node that takes one less.
    mutating func markBody(_ node: Node, remaining: Int?) {
        bodies[node] = .some(remaining)
    }
}
