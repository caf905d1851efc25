/// What may follow inside of tokens: the nodes of a trie of tokens, those with equal subtrees being one.
///
/// Which token it is does not matter where tokens are counted. If a thousand of them begin with a
/// letter and end with a mark, one shape stands for all the places behind that letter.
struct TokenShapes: Sendable {
    /// A byte that may follow.
    struct Step: Hashable, Sendable {
        let byte: UInt8
        /// Whether a token ends with it.
        let isToken: Bool
        /// The shape of what may follow inside of a longer token; -1: none is longer.
        let longer: Int32
    }

    private let steps: [Step]
    private let firsts: [Int32]

    /// Between two tokens. The others have lower numbers.
    let root: Int32

    var count: Int { Int(root) + 1 }
    var stepCount: Int { steps.count }

    init(_ trie: TokenTrie) {
        var numbers: [[Step]: Int32] = [:]
        var steps: [Step] = []
        var firsts: [Int32] = [0]
        func number(_ children: [Step]) -> Int32 {
            if let known = numbers[children] { return known }
            let number = Int32(firsts.count - 1)
            numbers[children] = number
            steps += children
            firsts.append(Int32(steps.count))
            return number
        }
        // Children come behind their parents, so from behind they are known.
        var shapes = [Int32](repeating: -1, count: trie.nodes.count)
        func children(_ first: Int, _ end: Int) -> [Step] {
            var children: [Step] = []
            var index = first
            while index < end {
                let node = trie.nodes[index]
                children.append(
                    Step(byte: node.byte, isToken: node.token >= 0, longer: shapes[index]))
                index += Int(node.size)
            }
            return children
        }
        for index in trie.nodes.indices.reversed() where trie.nodes[index].size > 1 {
            shapes[index] = number(children(index + 1, index + Int(trie.nodes[index].size)))
        }
        // No subtree is as high as the whole.
        root = number(children(0, trie.nodes.count))
        self.steps = steps
        self.firsts = firsts
    }

    subscript(_ shape: Int32) -> ArraySlice<Step> {
        steps[Int(firsts[Int(shape)])..<Int(firsts[Int(shape) + 1])]
    }

    /// From one shape to another by one byte. Whatever gets to `root` has ended a token.
    struct Moves: Sendable {
        private let firsts: [Int32]
        private let shapes: [Int32]

        /// `pairs`: which shape leads to which, each once, sorted.
        fileprivate init(_ pairs: [(Int32, Int32)], count: Int) {
            var firsts = [Int32](repeating: 0, count: count + 1)
            for (from, _) in pairs { firsts[Int(from) + 1] += 1 }
            for index in 0..<count { firsts[index + 1] += firsts[index] }
            self.firsts = firsts
            shapes = pairs.map(\.1)
        }

        subscript(_ shape: Int32) -> ArraySlice<Int32> {
            shapes[Int(firsts[Int(shape)])..<Int(firsts[Int(shape) + 1])]
        }
    }

    /// What each shape leads to by any byte of a range, and what leads to each.
    func moves(by bytes: ClosedRange<UInt8>) -> (forward: Moves, back: Moves) {
        var pairs: Set<UInt64> = []
        for shape in 0...root {
            for step in self[shape] where bytes.contains(step.byte) {
                let from = UInt64(shape) << 32
                if step.isToken { pairs.insert(from | UInt64(root)) }
                if step.longer >= 0 { pairs.insert(from | UInt64(step.longer)) }
            }
        }
        let forward = pairs.sorted().map { (Int32($0 >> 32), Int32($0 & 0xffff_ffff)) }
        let back = forward.map { ($0.1, $0.0) }.sorted { $0 < $1 }
        return (Moves(forward, count: count), Moves(back, count: count))
    }
}
