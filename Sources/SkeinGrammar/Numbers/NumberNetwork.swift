import SkeinJSON

extension NetworkBuilder {
    /// Writes the JSON texts of the numbers within bounds, each in every way that these rules allow:
    ///
    /// - No exponent, no leading zero, no `+`, and no `-0` in any form (`-0.00`).
    /// - Integers (`isInteger` or a divisor): digits only, and nothing but the bounds limits them.
    /// - Others: at most 15 significant digits (all from the first that is not zero; zeros at the end
    ///   of a fraction count, those at the end of an integer do not), and at most 16 digits after the
    ///   point, or 3 more than those of a bound.
    ///
    /// `NumberInterval` says what holds on a side without a bound, and why a judge who reads doubles
    /// agrees. The network is deterministic. Every node leads to `to`. A range takes a few nodes for
    /// each digit, a divisor m up to 4 * m for each digit (usually m).
    ///
    /// If there are more nodes than allowed it stops early, and `isTooLarge` is set.
    ///
    /// - Parameters:
    ///   - bounds: what the numbers have to satisfy.
    ///   - from: where the texts begin. If an error is thrown, nothing was written.
    ///   - to: where they end: the next byte has to be one that no number continues with.
    /// - Throws: `NumberFlaw`.
    mutating func number(_ bounds: NumberBounds, from: Node, to: Node) throws(NumberFlaw) {
        var writer = NumberWriter(interval: try NumberInterval(bounds), end: to)
        let branches = writer.start(in: &self)
        guard !branches.isEmpty || isTooLarge else { throw .empty }
        for branch in branches { edge(from, branch.bytes, branch.to) }
    }
}

/// Writes the network of one interval, from the ends of the texts to their beginning: a node is made
/// after those that follow it, so none is made that leads nowhere.
private struct NumberWriter {
    typealias Node = NetworkBuilder.Node

    private let positive: NumberCourse
    private let negative: NumberCourse
    private let end: Node
    /// What was found for a place: its node, or nil if no text ends well from there.
    private var known: [NumberPlace: Node?] = [:]

    init(interval: NumberInterval, end: Node) {
        let zero = ExactDecimal(0)
        let isPositive = interval.low.value >= zero
        positive = NumberCourse(
            low: isPositive ? interval.low : NumberInterval.Limit(value: zero),
            high: interval.high, interval)
        // Zero has no sign.
        let isNegative = interval.high.value < zero
        negative = NumberCourse(
            low: isNegative
                ? interval.high.negated : NumberInterval.Limit(value: zero, isExclusive: true),
            high: interval.low.negated, interval)
        self.end = end
    }

    /// The first bytes of all texts.
    mutating func start(in builder: inout NetworkBuilder) -> [NetworkBuilder.Edge] {
        var branches: [NetworkBuilder.Edge] = []
        if let place = negative.start(isNegative: true), let node = node(at: place, in: &builder) {
            branches.append(.init(bytes: UInt8(ascii: "-")...UInt8(ascii: "-"), to: node))
        }
        if let place = positive.start(isNegative: false) {
            branches += self.branches(at: place, in: &builder)
        }
        return branches
    }

    /// The node of a place. Calls itself once for each byte of a text: some 90 deep at most.
    private mutating func node(
        at place: NumberPlace, in builder: inout NetworkBuilder
    ) -> Node? {
        if let found = known[place] { return found }
        guard !builder.isTooLarge else { return nil }
        let branches = branches(at: place, in: &builder)
        let mayEnd = course(of: place).mayEnd(at: place)
        var node: Node?
        if !branches.isEmpty {
            let new = builder.node()
            for branch in branches { builder.edge(new, branch.bytes, branch.to) }
            if mayEnd { builder.skip(new, end) }
            node = new
        } else if mayEnd {
            node = end
        }
        known[place] = .some(node)
        return node
    }

    /// The bytes that lead on from a place; digits in a row to the same node are one edge.
    private mutating func branches(
        at place: NumberPlace, in builder: inout NetworkBuilder
    ) -> [NetworkBuilder.Edge] {
        let course = course(of: place)
        var branches: [NetworkBuilder.Edge] = []
        if let next = course.point(after: place), let node = node(at: next, in: &builder) {
            branches.append(.init(bytes: UInt8(ascii: ".")...UInt8(ascii: "."), to: node))
        }
        for digit in UInt8(0)...9 {
            guard let next = course.digit(digit, after: place),
                let node = node(at: next, in: &builder)
            else { continue }
            let byte = UInt8(ascii: "0") + digit
            if let last = branches.last, last.to == node, last.bytes.upperBound == byte - 1,
                digit > 0
            {
                branches[branches.count - 1].bytes = last.bytes.lowerBound...byte
            } else {
                branches.append(.init(bytes: byte...byte, to: node))
            }
        }
        return branches
    }

    private func course(of place: NumberPlace) -> NumberCourse {
        place.isNegative ? negative : positive
    }
}
