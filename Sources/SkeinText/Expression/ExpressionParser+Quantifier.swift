import SkeinBasics

extension ExpressionParser {
    /// `node` with all quantifiers that follow it.
    mutating func quantified(
        _ node: ExpressionNode, from start: Int
    ) throws(ExpressionFlaw) -> ExpressionNode {
        var node = node
        var count = 0
        while let (least, most, isInterval) = try bounds() {
            count += 1
            guard count <= ExpressionLimits.quantifiers else { throw refused(from: start) }
            var quantifier = ExpressionNode.Quantifier.greedy
            if isInterval, least == most, take("?") {
                // In this syntax not lazy, but optional.
                node = .repeated(node, least: least, most: most, .greedy)
                node = .repeated(node, least: 0, most: 1, .greedy)
                continue
            }
            if take("?") {
                quantifier = .lazy
            } else if !isInterval, take("+") {
                quantifier = .possessive
            }
            node = .repeated(node, least: least, most: most, quantifier)
        }
        return node
    }

    /// Reads `*`, `+`, `?` or an interval; nil if none comes next. `{` that begins no interval is a
    /// character.
    private mutating func bounds() throws(ExpressionFlaw) -> (
        least: Int, most: Int?, isInterval: Bool
    )? {
        if take("*") { return (0, nil, false) }
        if take("+") { return (1, nil, false) }
        if take("?") { return (0, 1, false) }
        guard next == "{" else { return nil }
        let start = position
        position += 1
        let least = try number(from: start)
        var most = least
        let isRange = take(",")
        if isRange { most = try number(from: start) }
        guard least != nil || most != nil, take("}") else {
            position = start
            return nil
        }
        if let least, let most, most < least { throw refused(from: start) }
        return (least ?? 0, isRange ? most : least, true)
    }

    private mutating func number(from start: Int) throws(ExpressionFlaw) -> Int? {
        let value = takeDecimal(limit: ExpressionLimits.count)
        guard value ?? 0 <= ExpressionLimits.count else { throw refused(from: start) }
        return value
    }
}
