/// Tokens by their bytes: the nodes of a trie, depth first, so that a subtree is skipped by adding
/// its size.
struct TokenTrie: Sendable {
    struct Node: Sendable {
        /// Nodes of the subtree, this one included.
        var size: Int32
        /// The token that ends here; -1: none.
        var token: Int32
        /// From 0.
        var depth: UInt16
        var byte: UInt8
    }

    let nodes: [Node]

    /// - Parameters:
    ///   - sorted: of tokens in the order of their bytes, none empty, no two equal.
    ///   - tokens: all tokens' bytes.
    ///   - longest: at least the bytes of the longest of them.
    init(_ sorted: [TokenBytes.Tokens.Sorted], _ tokens: TokenBytes.Tokens, longest: Int) {
        // What a token does not share with the one before are nodes of its own.
        let count = sorted.reduce(0) { $0 + tokens.count(of: $1.id) - Int($1.shared) }
        nodes = [Node](unsafeUninitializedCapacity: count) { nodes, initialized in
            withUnsafeTemporaryAllocation(of: Int.self, capacity: longest + 1) { path in
                var next = 0
                var depth = 0
                for token in sorted {
                    let bytes = tokens[token.id]
                    // The subtrees below what is shared end here.
                    while depth > token.shared {
                        depth -= 1
                        nodes[path[depth]].size = Int32(next - path[depth])
                    }
                    while depth < bytes.count {
                        nodes.initializeElement(
                            at: next,
                            to: Node(
                                size: 1, token: -1, depth: UInt16(depth), byte: bytes[depth]))
                        path[depth] = next
                        next += 1
                        depth += 1
                    }
                    nodes[path[depth - 1]].token = token.id
                }
                while depth > 0 {
                    depth -= 1
                    nodes[path[depth]].size = Int32(next - path[depth])
                }
                initialized = next
            }
        }
    }
}
