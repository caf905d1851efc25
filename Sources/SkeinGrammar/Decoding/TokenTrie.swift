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
    ///   - ids: of tokens in the order of their bytes, none empty, no two equal.
    ///   - tokens: all tokens' bytes.
    init(_ ids: [Int32], _ tokens: [[UInt8]]) {
        var nodes: [Node] = []
        // The nodes above the next one.
        var path: [Int] = []
        for id in ids {
            let bytes = tokens[Int(id)]
            var shared = 0
            while shared < path.count, shared < bytes.count,
                nodes[path[shared]].byte == bytes[shared]
            {
                shared += 1
            }
            Self.close(&path, to: shared, &nodes)
            for depth in shared..<bytes.count {
                path.append(nodes.count)
                nodes.append(
                    Node(size: 1, token: -1, depth: UInt16(depth), byte: bytes[depth]))
            }
            if let last = path.last { nodes[last].token = id }
        }
        Self.close(&path, to: 0, &nodes)
        self.nodes = nodes
    }

    private static func close(_ path: inout [Int], to depth: Int, _ nodes: inout [Node]) {
        while path.count > depth {
            let node = path.removeLast()
            nodes[node].size = Int32(nodes.count - node)
        }
    }
}
