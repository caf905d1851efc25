/// A regular expression that the whole answer matches, as a network of UTF-8.
enum ExpressionNetwork {
    static func network(
        of expression: String, _ demand: Demand = Demand(),
        unrolled: Int = GrammarLimits.unrolledCount
    ) throws(GrammarError) -> ByteNetwork {
        try demand.making { () throws(GrammarError) in
            let language = try TextMachines(WorkBudget(demand)).language(
                whole: expression, unrolled: unrolled)
            var builder = NetworkBuilder(demand, unrolled: unrolled)
            var sets = ScalarSubnetworks()
            let document = builder.subnetwork(.document)
            if language.isCounted {
                guard let range = TickRange(language.least, language.most) else {
                    throw .tooLarge(what: .nodes, limit: GrammarLimits.nodes, pointer: "")
                }
                let text = builder.counting(
                    language.machine, escaping: false, closing: nil, sets: &sets)
                // The empty text is no word of a subnetwork.
                if language.machine.accepting[0], range.least == 0 {
                    builder.skip(document.start, document.end)
                }
                builder.call(
                    document.start, text, document.end,
                    TickRange(least: max(1, range.least), most: range.most))
            } else {
                builder.machine(
                    language.machine, from: document.start, to: document.end, escaping: false,
                    sets: &sets)
            }
            return try ByteNetwork(builder, document: document, demand)
        }
    }
}
