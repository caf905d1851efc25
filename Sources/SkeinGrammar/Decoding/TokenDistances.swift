/// How many tokens the shortest way takes, from any place of a network and inside of any token.
///
/// For each node, each shape of tokens that is possible there, and each shape in which the node's
/// subnetwork may be left, there is the least number of tokens that end on the way. So a value that
/// goes on for ever, and recursion, are finite here, the numbers are exact, and so is the answer that
/// there is no way. `TokenDistanceSearch` finds them.
struct TokenDistances: Sendable {
    typealias Node = ByteNetwork.Node
    typealias Shape = Int32

    /// The least numbers of tokens by the shape in which something ends or begins, ascending by shape.
    typealias Costs = [(shape: Shape, tokens: Int32)]

    /// Shapes that are possible at a node; many nodes have the same ones.
    struct ShapeSet: Sendable {
        /// Ascending.
        let shapes: [Shape]
        /// For each shape its place in `shapes`, or -1.
        let places: [Int32]

        /// nil if it is not one of them.
        func place(of shape: Shape) -> Int? {
            let place = places[Int(shape)]
            return place >= 0 ? Int(place) : nil
        }
    }

    /// Where the numbers of each node are.
    struct Layout: Sendable {
        var sets: [ShapeSet] = []
        /// By node: of `sets`.
        var setOf: [Int32] = []
        /// By node: the end of its subnetwork.
        var ends: [Node] = []
        /// By node: where its numbers begin, row by row for the shapes at the node, a column for each
        /// shape at the end.
        var offsets: [Int] = []

        func shapes(at node: Node) -> ShapeSet { sets[Int(setOf[Int(node)])] }
        func exits(of node: Node) -> ShapeSet { shapes(at: ends[Int(node)]) }

        /// Where the numbers of a node and a shape begin; nil if the shape is not possible there.
        func row(_ node: Node, _ shape: Shape) -> Int? {
            guard let place = shapes(at: node).place(of: shape) else { return nil }
            return offsets[Int(node)] + place * exits(of: node).shapes.count
        }
    }

    /// Between two tokens.
    let root: Shape
    private let layout: Layout
    private let numbers: [UInt16]

    /// There is no way; a longer one counts as none.
    static let none = UInt16.max

    init(_ root: Shape, _ layout: Layout, _ numbers: [UInt16]) {
        self.root = root
        self.layout = layout
        self.numbers = numbers
    }

    /// Bytes that it takes, roughly.
    var byteCount: Int {
        2 * numbers.count + 16 * layout.offsets.count
            + layout.sets.reduce(0) { $0 + 4 * ($1.shapes.count + $1.places.count) }
    }

    /// From a node to the end of its subnetwork, if a token begins at the node.
    func costs(from node: Node) -> Costs { costs(from: node, root) }

    /// From a node to the end of everything, by the shape at the node; `rest` is what it takes from
    /// the end of the node's subnetwork.
    func costs(from node: Node, before rest: Costs) -> Costs {
        layout.shapes(at: node).shapes.compactMap { shape in
            let least = Self.least(costs(from: node, shape), rest)
            return least < ByteNetwork.never ? (shape, least) : nil
        }
    }

    private func costs(from node: Node, _ shape: Shape) -> Costs {
        guard let row = layout.row(node, shape) else { return [] }
        var found: Costs = []
        for (column, exit) in layout.exits(of: node).shapes.enumerated()
        where numbers[row + column] < Self.none {
            found.append((exit, Int32(numbers[row + column])))
        }
        return found
    }

    /// The least sum of two numbers that meet in one shape, or `ByteNetwork.never`.
    static func least(_ first: Costs, _ second: Costs) -> Int32 {
        var least = ByteNetwork.never
        var (a, b) = (0, 0)
        while a < first.count, b < second.count {
            if first[a].shape == second[b].shape {
                least = min(least, first[a].tokens + second[b].tokens)
                a += 1
                b += 1
            } else if first[a].shape < second[b].shape {
                a += 1
            } else {
                b += 1
            }
        }
        return least
    }
}
