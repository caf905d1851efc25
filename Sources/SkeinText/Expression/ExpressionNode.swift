import SkeinBasics

/// A regular expression as a tree. A literal is a set of one character.
indirect enum ExpressionNode: Sendable {
    enum Quantifier: Sendable {
        case greedy
        case lazy
        case possessive
    }

    enum Anchor: Int32, Sendable {
        case lineStart
        case lineEnd
        case textStart
        case textEnd
        /// The end, or before a line feed at the end.
        case lastLineEnd
        case wordBoundary
        case noWordBoundary
    }

    case set(ScalarSet)
    case sequence([ExpressionNode])
    case alternatives([ExpressionNode])
    /// - `most`: nil for any number.
    case repeated(ExpressionNode, least: Int, most: Int?, Quantifier)
    case atomic(ExpressionNode)
    case lookAhead(ExpressionNode, isNegative: Bool)
    case lookBehind(ExpressionNode, isNegative: Bool)
    case anchor(Anchor)

    static let empty = ExpressionNode.sequence([])
}

extension ExpressionNode {
    /// Whether a match can be empty. A look-around or an anchor counts as empty.
    var canBeEmpty: Bool {
        switch self {
        case .set: false
        case .sequence(let parts): parts.allSatisfy(\.canBeEmpty)
        case .alternatives(let parts): parts.contains(where: \.canBeEmpty)
        case .repeated(let node, let least, _, _): least == 0 || node.canBeEmpty
        case .atomic(let node): node.canBeEmpty
        case .lookAhead, .lookBehind, .anchor: true
        }
    }

    /// The number of characters that every match has; nil if they differ or are too many.
    var length: Int? {
        switch self {
        case .set: return 1
        case .sequence(let parts):
            return parts.reduce(0) { sum, part in
                sum.flatMap { sum in part.length.flatMap { Self.bounded(sum + $0) } }
            }
        case .alternatives(let parts):
            let lengths = Set(parts.map(\.length))
            return lengths.count == 1 ? lengths.first.flatMap(\.self) : nil
        case .repeated(let node, let least, let most, _):
            guard let most, most == least else { return nil }
            return node.length.flatMap { Self.bounded($0 * least) }
        case .atomic(let node): return node.length
        case .lookAhead, .lookBehind, .anchor: return 0
        }
    }

    private static func bounded(_ length: Int) -> Int? {
        length <= ExpressionLimits.lookBehind ? length : nil
    }
}
