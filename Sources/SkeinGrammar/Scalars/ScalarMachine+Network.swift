import SkeinBasics

extension NetworkBuilder {
    /// From one node to another by any text of a machine's language, which may be the empty one.
    ///
    /// A state becomes a node. One character is a call of its set's subnetwork, of rank
    /// `.character`; ASCII that needs no escape goes from state to state by edges of its own.
    ///
    /// - Parameters:
    ///   - machine: trimmed; if its language is empty, nothing leads to `to`.
    ///   - from: where the text begins.
    ///   - to: where it ends.
    ///   - escaping: whether the text stands inside of a JSON string, so that each character may be
    ///     written in every way that JSON has for it. Otherwise it is plain UTF-8.
    ///   - sets: what was built for other machines of this network.
    mutating func machine(
        _ machine: ScalarMachine, from: Node, to: Node, escaping: Bool,
        sets: inout ScalarSubnetworks
    ) {
        let nodes = machine.states.map { _ in node() }
        skip(from, nodes[0])
        for (state, steps) in machine.states.enumerated() {
            if isTooLarge { return }
            if machine.accepting[state] { skip(nodes[state], to) }
            for step in steps {
                character(
                    of: step.set, from: nodes[state], to: nodes[step.to], escaping: escaping,
                    sets: &sets)
            }
        }
    }

    /// A subnetwork of a machine's texts that counts their characters; each ends with the byte `closing`,
    /// or, where that is nil, is not empty.
    ///
    /// The machine has every length between its least and its most (`hasEveryLength`).
    mutating func counting(
        _ machine: ScalarMachine, escaping: Bool, closing: UInt8?, sets: inout ScalarSubnetworks
    ) -> Subnetwork {
        let lengths = machine.lengths
        let text = subnetwork(.text)
        mark(text.end, TickPlace(ticks: 0...0))
        var nodes: [Node] = []
        var ticks: [Node] = []
        for length in lengths {
            let node = node()
            mark(node, TickPlace(ticks: length))
            nodes.append(node)
            let most = length.upperBound == .max ? .max : length.upperBound + 1
            ticks.append(tick(to: node, length.lowerBound + 1...most))
        }
        func steps(_ state: Int, from node: Node, _ builder: inout NetworkBuilder) {
            for step in machine.states[state] {
                builder.character(
                    of: step.set, from: node, to: ticks[step.to], escaping: escaping, sets: &sets)
            }
        }
        for state in machine.states.indices where !isTooLarge {
            steps(state, from: nodes[state], &self)
            guard machine.accepting[state] else { continue }
            if let closing {
                edge(nodes[state], closing, text.end)
            } else {
                skip(nodes[state], text.end)
            }
        }
        let first = lengths[0]
        if closing == nil {
            let least = max(1, first.lowerBound)
            mark(text.start, TickPlace(ticks: least...max(least, first.upperBound)))
            steps(0, from: text.start, &self)
        } else {
            mark(text.start, TickPlace(ticks: first))
            skip(text.start, nodes[0])
        }
        return text
    }

    /// From one node to another by one character of a set.
    mutating func character(
        of set: ScalarSet, from: Node, to: Node, escaping: Bool,
        sets: inout ScalarSubnetworks
    ) {
        if isTooLarge { return }
        let entry = sets.entry(set, escaping: escaping, in: &self)
        for bytes in entry.direct { edge(from, bytes, to) }
        if let callee = entry.callee { call(from, callee, to) }
    }
}
