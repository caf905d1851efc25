/// Unigram segmentation: of all ways to write a text in pieces, the one with the greatest sum of
/// scores (Kudo 2018; Viterbi's algorithm over the pieces that begin at each character).
///
/// A character that no piece stands for alone costs the lowest score less 10. Among equal sums the
/// one found first wins: that of the longest last piece. The sums are rounded as in the program
/// whose file it is, for they decide such ties: SentencePiece adds Float, tokenizers Double.
struct UnigramEncoding: Sendable {
    private let trie: PieceTrie
    /// By id.
    private let scores: [Double]
    private let unknownScore: Double
    private let roundsToFloat: Bool
    private let unknownID: Int32?
    /// The token of every byte, or -1; none for a model that does not fall back to bytes.
    private let byteTokens: [Int32]
    /// For a run of unknown characters that is a piece after all.
    private let pieces: TokenTable

    /// What `SentencePieces` says of such a model.
    struct Scores: Sendable, Equatable {
        /// By id.
        var values: [Double]
        /// Ids that are not matched in a text: control, unknown and byte tokens.
        var unmatched: Set<Int> = []
        /// Ids that are worth more than what they can be cut into.
        var preferred: Set<Int> = []
        /// Whether it is SentencePiece's own file.
        var roundsToFloat = false
    }

    /// - Throws: `TokenizerError` when a score is not a number or a piece is too long.
    init(
        _ definition: TokenizerDefinition, _ design: TokenizerDefinition.SentencePieces,
        _ given: Scores, pieces: TokenTable
    ) throws(TokenizerError) {
        func invalid(_ flaw: TokenizerError.Flaw) -> TokenizerError {
            .invalid(flaw, source: definition.source)
        }
        var scores = given.values
        if let id = scores.firstIndex(where: { !$0.isFinite }) {
            throw invalid(.scoreNotFinite(id: id))
        }
        // Added tokens that the model itself does not know have none.
        var matched = scores.indices.filter { !given.unmatched.contains($0) }.map { Int32($0) }
        if definition.repeatsPieces {
            matched.removeAll { id in pieces.withString(Int(id)) { pieces.id(of: $0) != id } }
        }
        let limit = TokenizerLimits.scoredPieceBytes
        var sum = 0
        for id in matched {
            let bytes = pieces.withString(Int(id)) { $0.count }
            sum += bytes
            guard sum <= TokenizerLimits.scoredBytes else {
                throw invalid(.tooManyPieceBytes(limit: TokenizerLimits.scoredBytes))
            }
            guard bytes <= limit else {
                throw invalid(.scoredPieceTooLong(id: Int(id), bytes: bytes, limit: limit))
            }
        }
        // SentencePiece takes the lowest of normal pieces only.
        let normal =
            given.roundsToFloat
            ? matched.filter { !given.preferred.contains(Int($0)) }.map { scores[Int($0)] } : scores
        let lowest = (normal.min() ?? 0) - 10
        unknownScore = given.roundsToFloat ? Double(Float(lowest)) : lowest
        for id in given.preferred where id < scores.count {
            let length = pieces.withString(id) { $0.count }
            // By trial: what SentencePiece 0.2.3 takes for a user-defined symbol.
            scores[id] = Double(Float(length) * 0.1 - 0.1)
        }
        trie = PieceTrie(pieces, ids: matched)
        self.scores = scores
        roundsToFloat = given.roundsToFloat
        unknownID = definition.unknownID
        byteTokens = Self.byteTokens(design, pieces)
        self.pieces = pieces
    }

    /// The token of every byte, or -1; none for a model that does not fall back to bytes.
    static func byteTokens(
        _ design: TokenizerDefinition.SentencePieces, _ pieces: TokenTable
    ) -> [Int32] {
        guard design.fallsBackToBytes else { return [] }
        return (UInt8.min...UInt8.max).map { byte in
            CharacterPairEncoding.spelling(of: byte).withUnsafeBufferPointer {
                pieces.id(of: $0) ?? -1
            }
        }
    }

    /// Appends the tokens of normalized text.
    ///
    /// Tokens are written as soon as no piece reaches across the place where the loop is, so the
    /// memory is that of the longest stretch without such a place; the sums go on across it.
    func encode(
        _ text: UnsafeBufferPointer<UInt8>, lattice: inout UnigramLattice, into out: inout [Int32]
    ) {
        trie.withReader { trie in
            scores.withUnsafeBufferPointer { scores in
                var start = 0
                var sum = 0.0
                // The run of unknown characters that ends at `start`, not yet written.
                var unknown = 0..<0
                while start < text.count {
                    lattice.begin(sum: sum)
                    var position = start
                    repeat {
                        position += step(text, position, start, trie, scores, &lattice)
                    } while position - start < lattice.reach
                        && position - start < TokenizerLimits.preTokenBytes
                    let length = position - start
                    sum = lattice.nodes[length].sum
                    lattice.forEachPiece(to: length) { from, to, id in
                        let range = (start + from)..<(start + to)
                        if id == unknownID ?? -1 {
                            let first = unknown.isEmpty ? range.lowerBound : unknown.lowerBound
                            unknown = first..<range.upperBound
                        } else {
                            writeUnknown(text, &unknown, into: &out)
                            out.append(id)
                        }
                    }
                    start = position
                }
                writeUnknown(text, &unknown, into: &out)
            }
        }
    }

    /// Enters the pieces that begin at `position`.
    ///
    /// - Returns: the bytes of the character there.
    @inline(__always)
    private func step(
        _ text: UnsafeBufferPointer<UInt8>, _ position: Int, _ start: Int,
        _ trie: PieceTrie.Reader, _ scores: UnsafeBufferPointer<Double>,
        _ lattice: inout UnigramLattice
    ) -> Int {
        let here = lattice.nodes[position - start].sum
        let from = position - start
        let first = text[position]
        let length = first < 0x80 ? 1 : text.scalar(at: position)?.length ?? 1
        var isKnown = false
        var end = position + 1
        var node = trie.node(after: first)
        while node != 0 {
            let token = trie.token(at: node)
            if token >= 0 {
                lattice.offer(
                    sum: rounded(scores[Int(token)] + here), id: token, from: from, to: end - start)
                if end - position == length { isKnown = true }
            }
            guard end < text.count else { break }
            node = trie.node(after: text[end], from: node)
            end += 1
        }
        if !isKnown {
            lattice.offer(
                sum: rounded(unknownScore + here), id: unknownID ?? -1, from: from,
                to: from + length)
        }
        return length
    }

    /// The sum of two numbers that are Float, as Float adds them; else the sum.
    @inline(__always)
    private func rounded(_ sum: Double) -> Double { roundsToFloat ? Double(Float(sum)) : sum }

    /// Appends the tokens of a run of unknown characters: the piece that it is, its bytes, or one
    /// unknown token.
    private func writeUnknown(
        _ text: UnsafeBufferPointer<UInt8>, _ range: inout Range<Int>, into out: inout [Int32]
    ) {
        guard !range.isEmpty else { return }
        let run = UnsafeBufferPointer(rebasing: text[range])
        range = 0..<0
        if !roundsToFloat, let id = pieces.id(of: run), Int(id) < scores.count {
            out.append(id)
        } else if !byteTokens.isEmpty, run.allSatisfy({ byteTokens[Int($0)] >= 0 }) {
            for byte in run { out.append(byteTokens[Int(byte)]) }
        } else if let unknownID {
            out.append(unknownID)
        }
    }
}

/// The memory of one segmentation: the best way to each place of a stretch of text.
struct UnigramLattice: ~Copyable {
    struct Node {
        /// The greatest sum of scores.
        var sum: Double
        /// Where the last piece on the way begins; -1: nothing leads here yet.
        var from: Int32
        /// The last piece.
        var id: Int32
    }

    /// By the distance from the beginning of the stretch.
    private(set) var nodes: UnsafeMutablePointer<Node>
    /// The farthest place that a piece leads to.
    private(set) var reach = 0
    private var capacity = 256
    private var path: [Int32] = []

    init() { nodes = .allocate(capacity: capacity) }

    deinit { nodes.deallocate() }

    /// Begins a stretch to which the text so far has led with this sum.
    @inline(__always)
    mutating func begin(sum: Double) {
        reach = 0
        nodes[0] = Node(sum: sum, from: -1, id: -1)
    }

    /// Takes a piece if it leads to `to` better than what does so far.
    @inline(__always)
    mutating func offer(sum: Double, id: Int32, from: Int, to: Int) {
        if to > reach { extend(to: to) }
        if nodes[to].from >= 0, sum <= nodes[to].sum { return }
        nodes[to] = Node(sum: sum, from: Int32(truncatingIfNeeded: from), id: id)
    }

    @inline(__always)
    private mutating func extend(to place: Int) {
        if place >= capacity { grow(past: place) }
        while reach < place {
            reach += 1
            nodes[reach] = Node(sum: 0, from: -1, id: -1)
        }
    }

    @inline(never)
    private mutating func grow(past place: Int) {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: 2 * place)
        larger.update(from: nodes, count: reach + 1)
        nodes.deallocate()
        nodes = larger
        capacity = 2 * place
    }

    /// Calls `body` with the pieces of the best way to `end`, in the order of the text.
    @inline(__always)
    mutating func forEachPiece(to end: Int, _ body: (Int, Int, Int32) -> Void) {
        path.removeAll(keepingCapacity: true)
        var place = end
        while place > 0 {
            path.append(Int32(truncatingIfNeeded: place))
            place = Int(nodes[place].from)
        }
        for place in path.reversed() {
            let node = nodes[Int(place)]
            body(Int(node.from), Int(place), node.id)
        }
    }
}
