/// The pieces of a vocabulary by their first bytes: all that begin at a place of a text are found
/// in one walk.
///
/// Nodes stand in breadth-first order, so the children of each are neighbours.
struct PieceTrie: Sendable {
    /// The children of node n are `firstChild[n]..<firstChild[n + 1]`, in the order of their bytes.
    private var firstChild: [UInt32] = []
    /// The byte that leads to each node.
    private var labels: [UInt8] = [0]
    /// The piece that ends at each node, or -1.
    private var tokens: [Int32] = []
    /// The node after each first byte; 0, the root, where there is none.
    private var roots = [UInt32](repeating: 0, count: 256)

    /// - Parameters:
    ///   - pieces: the vocabulary.
    ///   - ids: which of them to hold; empty ones are left out, of equal ones any is taken.
    init(_ pieces: TokenTable, ids: [Int32]) {
        var sorted = ids.filter { pieces.withString(Int($0)) { !$0.isEmpty } }
        sorted.sort { left, right in
            pieces.withString(Int(left)) { left in
                pieces.withString(Int(right)) { left.lexicographicallyPrecedes($0) }
            }
        }
        func byte(_ index: Int, _ depth: Int) -> UInt8? {
            pieces.withString(Int(sorted[index])) { depth < $0.count ? $0[depth] : nil }
        }
        // The pieces below each node, and how many bytes led to it.
        var below: [(pieces: Range<Int>, depth: Int)] = [(0..<sorted.count, 0)]
        var node = 0
        while node < below.count {
            let (range, depth) = below[node]
            firstChild.append(UInt32(below.count))
            var index = range.lowerBound
            var token: Int32 = -1
            while index < range.upperBound {
                let start = index
                let label = byte(index, depth)
                while index < range.upperBound, byte(index, depth) == label { index += 1 }
                if let label {
                    if node == 0 { roots[Int(label)] = UInt32(below.count) }
                    labels.append(label)
                    below.append((start..<index, depth + 1))
                } else {
                    token = sorted[start]
                }
            }
            tokens.append(token)
            node += 1
        }
        firstChild.append(UInt32(below.count))
    }

    /// The trie for a loop that walks it often.
    struct Reader {
        fileprivate let firstChild: UnsafeBufferPointer<UInt32>
        fileprivate let labels: UnsafeBufferPointer<UInt8>
        fileprivate let tokens: UnsafeBufferPointer<Int32>
        fileprivate let roots: UnsafeBufferPointer<UInt32>

        /// The node after the first byte of a piece; 0: no piece begins with it.
        @inline(__always)
        func node(after byte: UInt8) -> Int { Int(roots[Int(byte)]) }

        /// The node after one more byte; 0: no piece goes on with it.
        @inline(__always)
        func node(after byte: UInt8, from node: Int) -> Int {
            var low = Int(firstChild[node])
            var high = Int(firstChild[node + 1])
            while high - low > 8 {
                let middle = (low + high) / 2
                if labels[middle] <= byte { low = middle } else { high = middle }
            }
            while low < high {
                if labels[low] == byte { return low }
                low += 1
            }
            return 0
        }

        /// The piece that ends at a node, or -1.
        @inline(__always)
        func token(at node: Int) -> Int32 { tokens[node] }
    }

    func withReader<Result>(_ body: (Reader) -> Result) -> Result {
        firstChild.withUnsafeBufferPointer { firstChild in
            labels.withUnsafeBufferPointer { labels in
                tokens.withUnsafeBufferPointer { tokens in
                    roots.withUnsafeBufferPointer { roots in
                        body(
                            Reader(
                                firstChild: firstChild, labels: labels, tokens: tokens,
                                roots: roots))
                    }
                }
            }
        }
    }

    /// How many bytes of the longest piece stand at `position`; nil if none does.
    func longestMatch(in text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int? {
        withReader { trie in
            var found: Int?
            var end = position
            var node = end < text.count ? trie.node(after: text[end]) : 0
            while node != 0 {
                end += 1
                if trie.token(at: node) >= 0 { found = end - position }
                node = end < text.count ? trie.node(after: text[end], from: node) : 0
            }
            return found
        }
    }
}
