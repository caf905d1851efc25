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
    ///   - longest: at least the bytes of the longest of them.
    init(_ ids: [Int32], _ tokens: TokenBytes.Tokens, longest: Int) {
        // How much each shares with the one before says how many nodes there are.
        var shared: [Int32] = []
        shared.reserveCapacity(ids.count)
        var count = 0
        var before = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        for id in ids {
            let bytes = tokens[id]
            let common = Self.commonPrefix(before, bytes)
            shared.append(Int32(common))
            count += bytes.count - common
            before = bytes
        }
        nodes = [Node](unsafeUninitializedCapacity: count) { nodes, initialized in
            withUnsafeTemporaryAllocation(of: Int.self, capacity: longest + 1) { path in
                var next = 0
                var depth = 0
                for (place, id) in ids.enumerated() {
                    let bytes = tokens[id]
                    let common = Int(shared[place])
                    // The subtrees below what is shared end here.
                    while depth > common {
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
                    nodes[path[depth - 1]].token = id
                }
                while depth > 0 {
                    depth -= 1
                    nodes[path[depth]].size = Int32(next - path[depth])
                }
                initialized = next
            }
        }
    }

    private static func commonPrefix(
        _ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var length = 0
        while length < a.count, length < b.count, a[length] == b[length] { length += 1 }
        return length
    }
}
