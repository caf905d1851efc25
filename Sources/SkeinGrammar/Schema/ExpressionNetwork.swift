/// A regular expression that the whole answer matches, as a network of UTF-8.
enum ExpressionNetwork {
    static func network(
        of expression: String, _ demand: Demand = Demand()
    ) throws(GrammarError) -> ByteNetwork {
        try demand.making { () throws(GrammarError) in
            let machine = try TextMachines(WorkBudget(demand)).machine(
                expression, matchesWhole: true, pointer: "")
            var builder = NetworkBuilder(demand)
            var sets = ScalarSubnetworks()
            let document = builder.subnetwork(.document)
            builder.machine(
                machine, from: document.start, to: document.end, escaping: false, sets: &sets)
            return try ByteNetwork(builder, document: document, demand)
        }
    }
}
