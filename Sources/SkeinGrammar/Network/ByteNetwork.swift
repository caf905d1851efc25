/// A recursive transition network over bytes: what may be written, byte by byte.
///
/// `NetworkBuilder` explains its parts. Here everything that leads nowhere is gone: from each node
/// that is left, the end of its subnetwork can be reached.
struct ByteNetwork: Sendable {
    typealias Node = NetworkBuilder.Node
    typealias Edge = NetworkBuilder.Edge

    struct Call: Sendable {
        let start: Node
        let rank: UInt8
        let to: Node
        let range: TickRange
    }

    struct Place: Sendable {
        var edges: Range<Int32>
        var skips: Range<Int32>
        var calls: Range<Int32>
        var isEnd: Bool
        /// The body of a JSON string: how many characters may follow, `Int32.max` for any number;
        /// -1 for other nodes.
        var body: Int32
        /// Where the characters of such a body begin that are no plain ASCII.
        var isOfBody: Bool
        /// The least number of bytes from here to the end of the subnetwork, with as few ticks as
        /// possible where it counts.
        var need: Int32
        /// The place in `ticks`, or -1.
        var tick: Int32 = -1
    }

    let places: [Place]
    let edges: [Edge]
    let skips: [Node]
    let calls: [Call]
    let ticks: [TickPlace]
    /// The most ticks that are needed from some node to the end of its subnetwork.
    let mostTicks: Int
    /// Where everything begins and ends.
    let start: Node
    let end: Node

    var byteCount: Int {
        places.count * MemoryLayout<Place>.stride + edges.count * MemoryLayout<Edge>.stride
            + skips.count * MemoryLayout<Node>.stride + calls.count * MemoryLayout<Call>.stride
            + ticks.count * MemoryLayout<TickPlace>.stride
    }

    /// Whether some calls count, so that a frame is more than where it returns to.
    var counts: Bool { !ticks.isEmpty }

    /// Every byte that stands on a shortest way to the end, of several the lowest.
    let shortestBytes: Set<UInt8>

    /// `places[...].need` of a node from which there is no way; a longer way counts as none.
    static let never = Int32.max / 4
    /// While the needs are sought: there is a way, and it takes at least as many bytes.
    private static let tooLong = never - 1

    /// - Throws: `GrammarError.tooLarge`, also when the shortest text is too long, `.empty`, when nothing
    ///   can be written, and `.cancelled`.
    init(
        _ builder: NetworkBuilder, document: NetworkBuilder.Subnetwork, _ demand: Demand = Demand()
    ) throws(GrammarError) {
        guard !builder.isTooLarge else {
            throw .tooLarge(what: .nodes, limit: GrammarLimits.nodes, pointer: "")
        }
        guard var need = Self.needs(builder, demand) else { throw .cancelled }
        let least = need[Int(document.start)]
        guard least < Self.never else { throw .empty(pointer: "") }
        guard least < Self.tooLong else {
            throw .tooLarge(what: .shortest, limit: Int(Self.tooLong), pointer: "")
        }
        for node in need.indices where need[node] == Self.tooLong { need[node] = Self.never }
        func leads(_ node: Node) -> Bool { need[Int(node)] < Self.never }
        var places: [Place] = []
        places.reserveCapacity(builder.edges.count)
        var edges: [Edge] = []
        var skips: [Node] = []
        var calls: [Call] = []
        var ticks: [TickPlace] = []
        for node in builder.edges.indices {
            guard demand.lasts(for: 50) else { throw .cancelled }
            let first = (Int32(edges.count), Int32(skips.count), Int32(calls.count))
            if need[node] < Self.never {
                edges += builder.edges[node].filter { leads($0.to) }
                skips += builder.skips[node].filter(leads)
                for call in builder.calls[node] where leads(call.to) && leads(call.callee.start) {
                    calls.append(
                        Call(
                            start: call.callee.start, rank: call.callee.rank.rawValue,
                            to: call.to, range: call.range))
                }
            }
            var body: Int32 = -1
            if let remaining = builder.bodies[Node(node)] {
                body = remaining.map { Int32(clamping: $0) } ?? .max
            }
            places.append(
                Place(
                    edges: first.0..<Int32(edges.count), skips: first.1..<Int32(skips.count),
                    calls: first.2..<Int32(calls.count),
                    isEnd: builder.ends.contains(Node(node)), body: body,
                    isOfBody: builder.bodyCharacters == Node(node), need: need[node]))
            if need[node] < Self.never, var tick = builder.ticks[Node(node)] {
                tick.unit = Self.unit(of: tick, need)
                places[node].tick = Int32(ticks.count)
                ticks.append(tick)
            }
        }
        var shortest: Set<UInt8> = []
        for (node, place) in places.enumerated() where need[node] < Self.never {
            for edge in place.edges {
                let edge = edges[Int(edge)]
                // Where characters are counted, more of them may be needed.
                let isCounted = builder.ticks[edge.to].map { $0.isTick } ?? false
                if need[Int(edge.to)] + 1 == need[node] || isCounted {
                    shortest.insert(edge.bytes.lowerBound)
                }
            }
        }
        shortestBytes = shortest
        self.places = places
        self.edges = edges
        self.skips = skips
        self.calls = calls
        self.ticks = ticks
        mostTicks = ticks.reduce(0) { max($0, Int($1.ticks.lowerBound)) }
        start = document.start
        end = document.end
    }

    /// For each node the least number of bytes to the end of its subnetwork.
    ///
    /// Dijkstra's algorithm on a grammar (Knuth, "A Generalization of Dijkstra's Algorithm", 1977): a
    /// call costs what its subnetwork and the rest cost, and is known when both are.
    ///
    /// nil if it is no longer wanted.
    fileprivate static func needs(_ builder: NetworkBuilder, _ demand: Demand) -> [Int32]? {
        let count = builder.edges.count
        var need = [Int32](repeating: never, count: count)
        var isKnown = [Bool](repeating: false, count: count)
        /// Who gets somewhere by way of a node: (node, bytes, the other half of a call or -1, the call).
        var before: [[(Node, Int32, Node, NetworkBuilder.Call?)]] = Array(
            repeating: [], count: count)
        for node in 0..<count {
            guard demand.lasts(for: 50) else { return nil }
            let from = Node(node)
            for edge in builder.edges[node] { before[Int(edge.to)].append((from, 1, -1, nil)) }
            for to in builder.skips[node] { before[Int(to)].append((from, 0, -1, nil)) }
            for call in builder.calls[node] {
                let counted = call.range == .any ? nil : call
                before[Int(call.to)].append((from, 0, call.callee.start, counted))
                before[Int(call.callee.start)].append((from, 0, call.to, counted))
            }
        }
        var heap = LeastFirst()
        for end in builder.ends.sorted() {
            need[Int(end)] = 0
            heap.insert(0, end)
        }
        while let (cost, node) = heap.removeFirst() {
            if isKnown[Int(node)] { continue }
            isKnown[Int(node)] = true
            guard demand.lasts(for: 20 + before[Int(node)].count) else { return nil }
            for (from, bytes, half, call) in before[Int(node)] where !isKnown[Int(from)] {
                if half >= 0, !isKnown[Int(half)] { continue }
                let rest = half >= 0 ? need[Int(half)] : 0
                var candidate = cost + bytes + rest
                if let call, var tick = builder.ticks[call.callee.start] {
                    guard tick.allows(call.range) else { continue }
                    tick.unit = unit(of: tick, need)
                    let inside = need[Int(call.callee.start)]
                    candidate += tick.need(inside, call.range) - inside
                }
                candidate = min(candidate, tooLong)
                if candidate < need[Int(from)] {
                    need[Int(from)] = candidate
                    heap.insert(candidate, from)
                }
            }
        }
        return need
    }
}

extension ByteNetwork {
    /// The bytes of another tick.
    fileprivate static func unit(of tick: TickPlace, _ need: [Int32]) -> Int32 {
        tick.lapStart.map { need[Int($0)] } ?? 1
    }
}

/// Nodes with their costs, the cheapest first.
private struct LeastFirst {
    private var items: [(cost: Int32, node: NetworkBuilder.Node)] = []

    mutating func insert(_ cost: Int32, _ node: NetworkBuilder.Node) {
        items.append((cost, node))
        var child = items.count - 1
        while child > 0, items[(child - 1) / 2].cost > items[child].cost {
            items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() -> (Int32, NetworkBuilder.Node)? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return (first.cost, first.node) }
        items[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < items.count && items[child].cost < items[least].cost {
                least = child
            }
            if least == parent { break }
            items.swapAt(parent, least)
            parent = least
        }
        return (first.cost, first.node)
    }
}
