/// Ranges of numbers as a deterministic network over their digits, the most significant first.
///
/// UTF-8 and `\uHHHH` are both numbers of a fixed number of digits: of 6 bits behind the first byte,
/// and of 4 bits. Nodes from which the same digits lead to the same places are built once, so the
/// network is the smallest one, and ranges need not be split by hand.
struct DigitNetwork {
    typealias Node = NetworkBuilder.Node

    /// How a digit is written.
    enum Alphabet {
        /// As one byte: this one for 0, and so on.
        case bytes(from: UInt8)
        /// As a hexadecimal digit of either case.
        case hexadecimal

        fileprivate func ranges(_ digits: ClosedRange<UInt32>) -> [ClosedRange<UInt8>] {
            switch self {
            case .bytes(let first):
                return [
                    first + UInt8(digits.lowerBound)...first + UInt8(digits.upperBound)
                ]
            case .hexadecimal:
                var ranges: [ClosedRange<UInt8>] = []
                if digits.lowerBound < 10 {
                    ranges.append(
                        0x30 + UInt8(digits.lowerBound)...0x30 + UInt8(min(digits.upperBound, 9)))
                }
                if digits.upperBound >= 10 {
                    let low = UInt8(max(digits.lowerBound, 10))
                    let high = UInt8(digits.upperBound)
                    ranges.append(0x37 + low...0x37 + high)
                    ranges.append(0x57 + low...0x57 + high)
                }
                return ranges
            }
        }
    }

    /// Numbers and where they lead.
    struct Piece: Hashable {
        var numbers: ClosedRange<UInt32>
        var to: Node
    }

    private struct Key: Hashable {
        var pieces: [Piece]
        var digits: Int
    }

    /// Bits of a digit.
    let bits: UInt32
    /// How every digit but the first is written.
    let alphabet: Alphabet
    private var known: [Key: Node] = [:]

    init(bits: UInt32, alphabet: Alphabet) {
        self.bits = bits
        self.alphabet = alphabet
    }

    /// Writes edges from a node for numbers of so many digits.
    ///
    /// - Parameters:
    ///   - pieces: sorted and disjoint; neighbours that touch lead to different places.
    ///   - digits: how many digits each number has.
    ///   - first: how the first digit is written; it may have more bits than the others.
    ///   - node: where the first digit is read.
    ///   - builder: takes the nodes and edges.
    mutating func write(
        _ pieces: [Piece], digits: Int, first: Alphabet, from node: Node,
        in builder: inout NetworkBuilder
    ) {
        guard digits > 1 else {
            for piece in pieces {
                edges(node, first, piece.numbers, piece.to, in: &builder)
            }
            return
        }
        let width = UInt32(1) << (bits * UInt32(digits - 1))
        var run: Piece?
        var index = 0
        var digit: UInt32 = 0
        while index < pieces.count && !builder.isTooLarge {
            digit = max(digit, pieces[index].numbers.lowerBound / width)
            let low = digit * width
            let high = low + (width - 1)
            var inside: [Piece] = []
            while index < pieces.count, pieces[index].numbers.lowerBound <= high {
                let numbers = pieces[index].numbers
                inside.append(
                    Piece(
                        numbers: max(numbers.lowerBound, low) - low...min(
                            numbers.upperBound, high) - low,
                        to: pieces[index].to))
                if numbers.upperBound > high { break }
                index += 1
            }
            let child = self.node(inside, digits: digits - 1, in: &builder)
            if let before = run, before.to == child, before.numbers.upperBound + 1 == digit {
                run = Piece(numbers: before.numbers.lowerBound...digit, to: child)
            } else {
                if let run { edges(node, first, run.numbers, run.to, in: &builder) }
                run = Piece(numbers: digit...digit, to: child)
            }
            digit += 1
        }
        if let run { edges(node, first, run.numbers, run.to, in: &builder) }
    }

    private mutating func node(
        _ pieces: [Piece], digits: Int, in builder: inout NetworkBuilder
    ) -> Node {
        let key = Key(pieces: pieces, digits: digits)
        if let node = known[key] { return node }
        let node = builder.node()
        known[key] = node
        write(pieces, digits: digits, first: alphabet, from: node, in: &builder)
        return node
    }

    private func edges(
        _ from: Node, _ alphabet: Alphabet, _ digits: ClosedRange<UInt32>, _ to: Node,
        in builder: inout NetworkBuilder
    ) {
        for bytes in alphabet.ranges(digits) { builder.edge(from, bytes, to) }
    }
}
