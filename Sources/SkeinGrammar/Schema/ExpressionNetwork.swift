/// A regular expression that the whole answer matches, as a network of UTF-8.
enum ExpressionNetwork {
    static func network(of expression: String) throws(GrammarError) -> ByteNetwork {
        let machine = try TextMachines(WorkBudget()).machine(
            expression, matchesWhole: true, pointer: "")
        var builder = NetworkBuilder()
        var sets = ScalarSubnetworks()
        let document = builder.subnetwork(.document)
        builder.machine(
            machine, from: document.start, to: document.end, escaping: false, sets: &sets)
        return try ByteNetwork(builder, document: document)
    }
}
