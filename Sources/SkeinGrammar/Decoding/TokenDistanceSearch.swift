/// Finds `TokenDistances`: the shortest ways in the product of a network and the shapes of tokens.
///
/// From the ends of the subnetworks backwards, the least numbers first. It is Dijkstra's algorithm on a
/// grammar (Knuth, "A Generalization of Dijkstra's Algorithm", 1977): a call costs what its subnetwork
/// and the rest cost, and is known when both are.
struct TokenDistanceSearch {
    typealias Node = ByteNetwork.Node
    typealias Shape = Int32

    private let network: ByteNetwork
    private let shapes: TokenShapes
    /// By distinct range of bytes.
    private var moves: [(forward: TokenShapes.Moves, back: TokenShapes.Moves)] = []
    /// By edge: of `moves`.
    private var moveOf: [Int32] = []
    /// What leads to a node.
    private var before: [[Before]] = []
    /// By the start of a subnetwork: who calls it.
    private var callers: [Node: [(from: Node, to: Node)]] = [:]
    private var layout = TokenDistances.Layout()

    /// The least number so far; `final` is added once it is known to be the least.
    private var numbers: [UInt16] = []
    private static let final: UInt16 = 1 << 15
    private static let unknown = final - 1

    private struct Item {
        var node: Node
        var shape: Shape
        /// The column of the shapes at the end.
        var column: Int32
    }

    /// By number of tokens.
    private var levels: [[Item]] = []
    private var work = 0
    private let demand: Demand

    private enum Before {
        /// By a byte: of `moves`.
        case edge(Node, moves: Int32)
        case skip(Node)
        /// By a call of what begins at `callee`.
        case call(Node, callee: Node)
    }

    private init(_ network: ByteNetwork, _ shapes: TokenShapes, _ demand: Demand) {
        self.demand = demand
        self.network = network
        self.shapes = shapes
    }

    /// nil if it takes more room or work than `GrammarLimits` allow, a function of both, if the network
    /// counts, or if they are wanted no longer.
    static func distances(
        _ network: ByteNetwork, _ shapes: TokenShapes, _ demand: Demand = Demand()
    ) -> TokenDistances? {
        // They would be other ones for each number that is left.
        if network.counts { return nil }
        var search = TokenDistanceSearch(network, shapes, demand)
        guard search.collectMoves() else { return nil }
        search.collectNodes()
        guard search.collectShapes() else { return nil }
        return search.run()
    }

    /// Whether the work so far is within what is allowed and wanted.
    private mutating func spends(_ units: Int) -> Bool {
        work += units
        return work <= GrammarLimits.distanceWork && demand.lasts(for: units)
    }

    // MARK: - Preparation

    private mutating func collectMoves() -> Bool {
        var numbers: [ClosedRange<UInt8>: Int32] = [:]
        for edge in network.edges {
            if let known = numbers[edge.bytes] {
                moveOf.append(known)
                continue
            }
            guard spends(4 * shapes.stepCount) else { return false }
            numbers[edge.bytes] = Int32(moves.count)
            moveOf.append(Int32(moves.count))
            moves.append(shapes.moves(by: edge.bytes))
        }
        return true
    }

    /// What leads to each node, and where its subnetwork ends.
    private mutating func collectNodes() {
        before = Array(repeating: [], count: network.places.count)
        for (index, place) in network.places.enumerated() {
            let node = Node(index)
            for edge in place.edges {
                before[Int(network.edges[Int(edge)].to)].append(
                    .edge(node, moves: moveOf[Int(edge)]))
            }
            for skip in place.skips { before[Int(network.skips[Int(skip)])].append(.skip(node)) }
            for call in place.calls {
                let call = network.calls[Int(call)]
                before[Int(call.to)].append(.call(node, callee: call.start))
                callers[call.start, default: []].append((node, call.to))
            }
        }
        layout.ends = Array(repeating: -1, count: network.places.count)
        for (index, place) in network.places.enumerated() where place.isEnd {
            var path = [Node(index)]
            while let node = path.popLast() {
                if layout.ends[Int(node)] == Node(index) { continue }
                precondition(layout.ends[Int(node)] < 0, "a node is of one subnetwork")
                layout.ends[Int(node)] = Node(index)
                for one in before[Int(node)] {
                    switch one {
                    case .edge(let from, _), .skip(let from), .call(let from, _): path.append(from)
                    }
                }
            }
        }
    }

    /// The shapes that are possible at each node, from wherever its subnetwork is called.
    private mutating func collectShapes() -> Bool {
        let words = (shapes.count + 63) / 64
        let count = network.places.count
        guard count * words <= GrammarLimits.distanceWords else { return false }
        var sets = [UInt64](repeating: 0, count: count * words)
        var items: [(Node, Shape)] = []
        func add(_ node: Node, _ shape: Shape) {
            let index = Int(node) * words + Int(shape) >> 6
            let bit: UInt64 = 1 << UInt64(shape & 63)
            guard sets[index] & bit == 0 else { return }
            sets[index] |= bit
            items.append((node, shape))
        }
        var returns: [Node: Set<Node>] = [:]
        for (start, calls) in callers {
            for call in calls { returns[layout.ends[Int(start)], default: []].insert(call.to) }
        }
        add(network.start, shapes.root)
        while let (node, shape) = items.popLast() {
            guard spends(8) else { return false }
            let place = network.places[Int(node)]
            for edge in place.edges {
                let to = network.edges[Int(edge)].to
                for next in moves[Int(moveOf[Int(edge)])].forward[shape] { add(to, next) }
            }
            for skip in place.skips { add(network.skips[Int(skip)], shape) }
            for call in place.calls { add(network.calls[Int(call)].start, shape) }
            if place.isEnd, let targets = returns[node] {
                // One subnetwork may have as many callers as there are nodes.
                guard spends(targets.count),
                    items.count + targets.count <= GrammarLimits.distanceNumbers
                else { return false }
                for to in targets { add(to, shape) }
            }
        }
        return intern(sets, words)
    }

    private mutating func intern(_ sets: [UInt64], _ words: Int) -> Bool {
        var numbers: [ArraySlice<UInt64>: Int32] = [:]
        for node in network.places.indices {
            let bits = sets[node * words..<(node + 1) * words]
            if let known = numbers[bits] {
                layout.setOf.append(known)
                continue
            }
            guard (layout.sets.count + 1) * shapes.count <= GrammarLimits.distanceNumbers else {
                return false
            }
            var found: [Shape] = []
            var places = [Int32](repeating: -1, count: shapes.count)
            for shape in 0..<Int32(shapes.count)
            where bits[bits.startIndex + Int(shape) >> 6] >> UInt64(shape & 63) & 1 == 1 {
                places[Int(shape)] = Int32(found.count)
                found.append(shape)
            }
            numbers[bits] = Int32(layout.sets.count)
            layout.setOf.append(Int32(layout.sets.count))
            layout.sets.append(TokenDistances.ShapeSet(shapes: found, places: places))
        }
        var size = 0
        for node in network.places.indices {
            layout.offsets.append(size)
            guard layout.ends[node] >= 0 else { continue }
            let node = Node(node)
            size += layout.shapes(at: node).shapes.count * layout.exits(of: node).shapes.count
            guard size <= GrammarLimits.distanceNumbers else { return false }
        }
        self.numbers = Array(repeating: Self.unknown, count: size)
        return true
    }

    // MARK: - The search

    private mutating func run() -> TokenDistances? {
        for (index, place) in network.places.enumerated() where place.isEnd {
            let node = Node(index)
            for (column, shape) in layout.shapes(at: node).shapes.enumerated() {
                relax(node, shape, Int32(column), 0)
            }
        }
        var level = 0
        while level < levels.count {
            while let item = levels[level].popLast() {
                guard let row = layout.row(item.node, item.shape) else { continue }
                let place = row + Int(item.column)
                guard Int(numbers[place]) == level else { continue }
                numbers[place] |= Self.final
                guard spread(item, level) else { return nil }
            }
            levels[level] = []
            level += 1
        }
        for place in numbers.indices {
            numbers[place] =
                numbers[place] & Self.final == 0
                ? TokenDistances.none : numbers[place] & ~Self.final
        }
        return TokenDistances(shapes.root, layout, numbers)
    }

    /// Notes a way; a number above `unknown` counts as none.
    private mutating func relax(_ node: Node, _ shape: Shape, _ column: Int32, _ number: Int) {
        guard let row = layout.row(node, shape) else { return }
        let place = row + Int(column)
        guard number < Int(numbers[place] & ~Self.final) else { return }
        numbers[place] = UInt16(number)
        while levels.count <= number { levels.append([]) }
        levels[number].append(Item(node: node, shape: shape, column: column))
    }

    /// Tells all that lead to an item that its number is known.
    private mutating func spread(_ item: Item, _ number: Int) -> Bool {
        for one in before[Int(item.node)] {
            switch one {
            case .skip(let from):
                relax(from, item.shape, item.column, number)
            case .edge(let from, let index):
                let tokens = item.shape == shapes.root ? number + 1 : number
                let back = moves[Int(index)].back[item.shape]
                guard spends(back.count) else { return false }
                for shape in back { relax(from, shape, item.column, tokens) }
            case .call(let from, let callee):
                guard let column = layout.exits(of: callee).place(of: item.shape) else { continue }
                let before = layout.shapes(at: from).shapes
                guard spends(before.count) else { return false }
                for shape in before {
                    guard let row = layout.row(callee, shape) else { continue }
                    let inside = numbers[row + column]
                    guard inside & Self.final != 0 else { continue }
                    relax(from, shape, item.column, number + Int(inside & ~Self.final))
                }
            }
        }
        guard let calls = callers[item.node] else { return spends(1) }
        let shape = layout.exits(of: item.node).shapes[Int(item.column)]
        for call in calls where layout.row(call.from, item.shape) != nil {
            guard let row = layout.row(call.to, shape) else { continue }
            let columns = layout.exits(of: call.to).shapes.count
            guard spends(columns) else { return false }
            for column in 0..<columns where numbers[row + column] & Self.final != 0 {
                relax(
                    call.from, item.shape, Int32(column),
                    number + Int(numbers[row + column] & ~Self.final))
            }
        }
        return spends(1)
    }
}
