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

    /// From one node to another by one character of a set.
    mutating func character(
        of set: ScalarRanges, from: Node, to: Node, escaping: Bool,
        sets: inout ScalarSubnetworks
    ) {
        if isTooLarge { return }
        let entry = sets.entry(set, escaping: escaping, in: &self)
        for bytes in entry.direct { edge(from, bytes, to) }
        if let callee = entry.callee { call(from, callee, to) }
    }
}
