/// JSON strings of which only the length matters, from behind the first quote to behind the last.
///
/// `body(m, n)`: at least `m` and at most `n` more characters. Any character leads to
/// `body(m - 1, n - 1)`, so that strings of all lengths share their nodes. Where there are many, one
/// node counts for all of them.
struct TextBodies {
    typealias Node = NetworkBuilder.Node

    private struct Rest: Hashable {
        var least: Int
        /// nil: any number.
        var most: Int?

        var next: Rest { Rest(least: max(0, least - 1), most: most.map { $0 - 1 }) }
    }

    private let end: Node
    /// A character that is not plain ASCII: UTF-8 or an escape.
    private let character: NetworkBuilder.Subnetwork
    private var bodies: [Rest: Node] = [:]
    /// Those whose characters are written.
    private var filled: Set<Rest> = []
    /// The one that counts.
    private var counting: NetworkBuilder.Subnetwork?

    init(_ builder: inout NetworkBuilder) {
        end = builder.subnetwork(.text).end
        character = builder.subnetwork(.character)
        builder.bodyCharacters = character.start
        builder.otherCharacters(character)
    }

    /// From one node to another by a string of `least...most` characters.
    mutating func call(
        _ from: Node, least: Int, most: Int?, _ to: Node, _ builder: inout NetworkBuilder
    ) {
        guard max(least, most ?? 0) > builder.unrolled else {
            return builder.call(from, body(least: least, most: most, &builder), to)
        }
        guard let range = TickRange(least, most) else { return builder.refuse() }
        builder.call(from, countingBody(&builder), to, range)
    }

    private mutating func countingBody(
        _ builder: inout NetworkBuilder
    ) -> NetworkBuilder.Subnetwork {
        if let counting { return counting }
        let start = builder.node()
        builder.mark(start, TickPlace(ticks: 0 ... .max))
        builder.markBody(start, remaining: nil)
        let next = builder.tick(to: start, 1 ... .max)
        character(start, next, &builder)
        let end = builder.node()
        builder.mark(end, TickPlace(ticks: 0...0))
        builder.markEnd(end)
        builder.edge(start, UInt8(ascii: "\""), end)
        let subnetwork = NetworkBuilder.Subnetwork(start: start, end: end, rank: .text)
        counting = subnetwork
        return subnetwork
    }

    /// From one node to another by any character.
    private func character(_ from: Node, _ to: Node, _ builder: inout NetworkBuilder) {
        for plain: ClosedRange<UInt8> in [0x20...0x21, 0x23...0x5B, 0x5D...0x7F] {
            builder.edge(from, plain, to)
        }
        builder.call(from, character, to)
    }

    private mutating func body(
        least: Int, most: Int?, _ builder: inout NetworkBuilder
    ) -> NetworkBuilder.Subnetwork {
        guard max(least, most ?? 0) < GrammarLimits.nodes else {
            builder.refuse()
            return NetworkBuilder.Subnetwork(start: end, end: end, rank: .text)
        }
        var rest = Rest(least: least, most: most)
        let start = node(rest, &builder)
        while !builder.isTooLarge, rest.most != 0, filled.insert(rest).inserted {
            let here = node(rest, &builder)
            let next = node(rest.next, &builder)
            character(here, next, &builder)
            rest = rest.next
        }
        return NetworkBuilder.Subnetwork(start: start, end: end, rank: .text)
    }

    private mutating func node(_ rest: Rest, _ builder: inout NetworkBuilder) -> Node {
        if let known = bodies[rest] { return known }
        let node = builder.node()
        bodies[rest] = node
        builder.markBody(node, remaining: rest.most)
        if rest.least == 0 { builder.edge(node, UInt8(ascii: "\""), end) }
        return node
    }
}

extension NetworkBuilder {
    /// Fills a subnetwork with every character of a JSON string that is no plain ASCII, in UTF-8, and
    /// with every escape. Surrogates only stand in pairs.
    fileprivate mutating func otherCharacters(_ callee: Subnetwork) {
        let (start, end) = (callee.start, callee.end)
        // UTF-8 (RFC 3629, section 4).
        let one = node()
        let two = node()
        let three = node()
        edge(one, 0x80...0xBF, end)
        edge(two, 0x80...0xBF, one)
        edge(three, 0x80...0xBF, two)
        edge(start, 0xC2...0xDF, one)
        for (lead, second, rest): (ClosedRange<UInt8>, ClosedRange<UInt8>, Node) in [
            (0xE0...0xE0, 0xA0...0xBF, one), (0xED...0xED, 0x80...0x9F, one),
            (0xF0...0xF0, 0x90...0xBF, two), (0xF4...0xF4, 0x80...0x8F, two),
        ] {
            let after = node()
            edge(start, lead, after)
            edge(after, second, rest)
        }
        edge(start, 0xE1...0xEC, two)
        edge(start, 0xEE...0xEF, two)
        edge(start, 0xF1...0xF3, three)
        // Escapes (RFC 8259, section 7).
        let escape = node()
        edge(start, UInt8(ascii: "\\"), escape)
        for mark in "\"\\/bfnrt".utf8 { edge(escape, mark, end) }
        let unit = node()
        edge(escape, UInt8(ascii: "u"), unit)
        let digits = (0..<3).map { _ in node() }
        hexadecimal(digits[0], 0...15, end)
        hexadecimal(digits[1], 0...15, digits[0])
        hexadecimal(digits[2], 0...15, digits[1])
        hexadecimal(unit, 0...12, digits[2])
        hexadecimal(unit, 14...15, digits[2])
        let d = node()
        hexadecimal(unit, 13...13, d)
        hexadecimal(d, 0...7, digits[1])
        // \uD800-\uDBFF, then \uDC00-\uDFFF.
        let high = (0..<2).map { _ in node() }
        let low = (0..<3).map { _ in node() }
        hexadecimal(d, 8...11, high[0])
        hexadecimal(high[0], 0...15, high[1])
        hexadecimal(high[1], 0...15, low[0])
        text(low[0], "\\u".utf8, low[1])
        hexadecimal(low[1], 13...13, low[2])
        hexadecimal(low[2], 12...15, digits[1])
    }

    /// A hexadecimal digit of either case.
    fileprivate mutating func hexadecimal(_ from: Node, _ values: ClosedRange<UInt8>, _ to: Node) {
        for value in values {
            if value < 10 {
                edge(from, UInt8(ascii: "0") + value, to)
            } else {
                edge(from, UInt8(ascii: "A") + value - 10, to)
                edge(from, UInt8(ascii: "a") + value - 10, to)
            }
        }
    }
}
