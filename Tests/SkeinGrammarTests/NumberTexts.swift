import SkeinJSON
@testable import SkeinGrammar

/// A network of numbers and the texts that it writes, by trying: the plainest reading of edges and
/// skips, as an oracle for the tests.
struct NumberTexts {
    typealias Node = NetworkBuilder.Node

    let builder: NetworkBuilder
    let from: Node
    let to: Node

    /// - Throws: `NumberFlaw`.
    init(_ bounds: NumberBounds) throws(NumberFlaw) {
        var builder = NetworkBuilder()
        from = builder.node()
        to = builder.node()
        try builder.number(bounds, from: from, to: to)
        self.builder = builder
    }

    /// Nil if there is no number. Any other flaw is thrown.
    static func unlessEmpty(_ bounds: NumberBounds) throws(NumberFlaw) -> NumberTexts? {
        do {
            return try NumberTexts(bounds)
        } catch {
            guard error == .empty else { throw error }
            return nil
        }
    }

    var nodeCount: Int { builder.edges.count }

    func accepts(_ text: String) -> Bool {
        var here: Set<Node> = [from]
        for byte in text.utf8 { here = step(here, byte) }
        return closure(here).contains(to)
    }

    /// All texts of at most some bytes.
    func all(ofLength length: Int) -> Set<String> {
        var found: Set<String> = []
        collect(closure([from]), [], length, &found)
        return found
    }

    /// Whether no byte leads from one node to two places.
    var isDeterministic: Bool {
        builder.edges.allSatisfy { edges in
            let bytes = edges.flatMap { Array($0.bytes) }
            return Set(bytes).count == bytes.count
        }
    }

    /// Nodes that `to` cannot be reached from, or that cannot be reached.
    var uselessNodes: [Node] {
        var targets: [[Node]] = zip(builder.edges, builder.skips).map { edges, skips in
            edges.map(\.to) + skips
        }
        let forward = reached(from, targets)
        var sources: [[Node]] = Array(repeating: [], count: targets.count)
        for (node, nexts) in targets.enumerated() {
            for next in nexts { sources[Int(next)].append(Node(node)) }
        }
        targets = sources
        let backward = reached(to, targets)
        return (0..<Node(targets.count)).filter { !forward.contains($0) || !backward.contains($0) }
    }

    /// A text by a random way, which prefers to go on.
    func randomText(_ random: inout NumberRandom) -> String {
        var here = from
        var bytes: [UInt8] = []
        while here != to {
            let edges = builder.edges[Int(here)]
            let mayEnd = !builder.skips[Int(here)].isEmpty
            if edges.isEmpty || (mayEnd && random.below(6) == 0) { break }
            let edge = edges[random.below(edges.count)]
            bytes.append(
                edge.bytes.lowerBound
                    + UInt8(random.below(edge.bytes.count)))
            here = edge.to
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func reached(_ start: Node, _ targets: [[Node]]) -> Set<Node> {
        var reached: Set<Node> = [start]
        var left = [start]
        while let node = left.popLast() {
            for next in targets[Int(node)] where reached.insert(next).inserted {
                left.append(next)
            }
        }
        return reached
    }

    private func closure(_ nodes: Set<Node>) -> Set<Node> {
        nodes.reduce(into: nodes) { all, node in all.formUnion(builder.skips[Int(node)]) }
    }

    private func step(_ nodes: Set<Node>, _ byte: UInt8) -> Set<Node> {
        var next: Set<Node> = []
        for node in closure(nodes) {
            for edge in builder.edges[Int(node)] where edge.bytes.contains(byte) {
                next.insert(edge.to)
            }
        }
        return next
    }

    private func collect(
        _ here: Set<Node>, _ bytes: [UInt8], _ length: Int, _ found: inout Set<String>
    ) {
        if here.contains(to) { found.insert(String(decoding: bytes, as: UTF8.self)) }
        guard bytes.count < length else { return }
        let choices = Set(here.flatMap { builder.edges[Int($0)].flatMap { Array($0.bytes) } })
        for byte in choices {
            collect(closure(step(here, byte)), bytes + [byte], length, &found)
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers for the same seed everywhere.
struct NumberRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    mutating func isHeads() -> Bool { below(2) == 0 }
}

extension ExactDecimal: ExpressibleByStringLiteral {
    /// A number's JSON text; a literal that is none is a mistake in the test.
    public init(stringLiteral text: String) {
        guard let value = ExactDecimal(json: text) else {
            preconditionFailure("\(text) is not a number")
        }
        self = value
    }
}

/// For tables of tests.
extension NumberDivisor: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral text: String) {
        guard let divisor = ExactDecimal(json: text).flatMap(NumberDivisor.init) else {
            preconditionFailure("\(text) is no divisor")
        }
        self = divisor
    }

    public init(integerLiteral value: UInt) { self.init(stringLiteral: "\(value)") }
}
