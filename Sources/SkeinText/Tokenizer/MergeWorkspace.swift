/// The memory of one merge: a linked list of symbols and a heap of candidate merges. Made once for
/// a text and used for all its pre-tokens.
struct MergeWorkspace: ~Copyable {
    /// One symbol of the pre-token; dead once it is merged into its left neighbour.
    struct Symbol {
        var id: Int32
        /// Positions of the living neighbours; -1 at the borders.
        var previous: Int32
        var next: Int32
        /// The rank of the merge with `next`, or `MergeTable.none`.
        var rank: UInt32
    }

    private(set) var symbols: UnsafeMutablePointer<Symbol>
    /// A binary min-heap of `rank << 32 | position`: the most urgent merge, the leftmost of equals.
    private var heap: UnsafeMutablePointer<UInt64>
    private var heapCount = 0
    private var capacity: Int

    init() {
        capacity = 64
        symbols = .allocate(capacity: capacity)
        heap = .allocate(capacity: 2 * capacity)
    }

    deinit {
        symbols.deallocate()
        heap.deallocate()
    }

    /// Makes room for `count` symbols and forgets the last pre-token.
    @inline(__always)
    mutating func prepare(for count: Int) {
        heapCount = 0
        if count > capacity { grow(to: count) }
    }

    @inline(never)
    private mutating func grow(to count: Int) {
        symbols.deallocate()
        heap.deallocate()
        capacity = max(count, capacity * 2)
        symbols = .allocate(capacity: capacity)
        // count - 1 candidates at first; each of at most count - 1 merges takes one and adds two.
        heap = .allocate(capacity: 2 * capacity)
    }

    /// Adds a candidate merge of the symbol at `position` with its right neighbour.
    @inline(__always)
    mutating func push(rank: UInt32, position: Int) {
        let entry = UInt64(rank) << 32 | UInt64(UInt32(truncatingIfNeeded: position))
        var hole = heapCount
        heapCount += 1
        while hole > 0 {
            let parent = (hole - 1) >> 1
            if heap[parent] <= entry { break }
            heap[hole] = heap[parent]
            hole = parent
        }
        heap[hole] = entry
    }

    /// Takes the most urgent candidate.
    @inline(__always)
    mutating func pop() -> (rank: UInt32, position: Int)? {
        guard heapCount > 0 else { return nil }
        let top = heap[0]
        heapCount -= 1
        let entry = heap[heapCount]
        var hole = 0
        while true {
            var child = 2 * hole + 1
            guard child < heapCount else { break }
            if child + 1 < heapCount, heap[child + 1] < heap[child] { child += 1 }
            if entry <= heap[child] { break }
            heap[hole] = heap[child]
            hole = child
        }
        heap[hole] = entry
        return (UInt32(top >> 32), Int(UInt32(truncatingIfNeeded: top)))
    }
}
