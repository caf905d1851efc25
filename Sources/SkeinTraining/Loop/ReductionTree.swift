/// Sums micro-batch results in one fixed order, in whatever order they arrive.
///
/// A binary tree over the micro-batch index: node k of level l is the sum of the leaves
/// k 2^l ..< (k + 1) 2^l, as far as they exist, and takes one addition, left + right. A node
/// without a right sibling is carried up unchanged. Float addition is not associative; the tree
/// fixes which additions are done, so every arrival order gives equal bits. Two sums combine as
/// soon as both are there: leaves that arrive in order keep at most log2(n) + 1 vectors alive.
package struct ReductionTree: Sendable {
    private struct Place: Hashable {
        var level: Int
        var index: Int
    }

    /// Leaves that the tree sums.
    package let count: Int
    package private(set) var addedCount = 0
    private var added: [Bool]
    private var waiting: [Place: GradientSum] = [:]
    private var root: GradientSum?

    /// - Parameter count: micro-batches of the step, at least 1.
    package init(count: Int) {
        precondition(count > 0, "a step has at least one micro-batch")
        self.count = count
        added = [Bool](repeating: false, count: count)
    }

    /// Sums that the tree holds in memory: those that wait for their sibling, or the total.
    package var waitingCount: Int { waiting.count + (root == nil ? 0 : 1) }

    /// The sum of all leaves, once all are there.
    package var total: GradientSum? { root }

    /// Whether the result of this micro-batch has been added.
    package func contains(_ leaf: Int) -> Bool { added[leaf] }

    /// Adds the result of micro-batch `leaf`.
    ///
    /// - Returns: false if it was there already; the second one is not used.
    @discardableResult
    package mutating func add(_ leaf: Int, _ result: consuming GradientSum) -> Bool {
        precondition((0..<count).contains(leaf), "a leaf outside of the tree")
        guard !added[leaf] else { return false }
        added[leaf] = true
        addedCount += 1
        var place = Place(level: 0, index: leaf)
        var sum = result
        while 1 << place.level < count {
            let sibling = Place(level: place.level, index: place.index ^ 1)
            let siblingExists = sibling.index << sibling.level < count
            if siblingExists {
                guard var other = waiting.removeValue(forKey: sibling) else {
                    waiting[place] = sum
                    return true
                }
                // Into the one that waited, whichever side it is on: the tree alone holds it. The
                // caller may still hold the new one, and writing to that would copy it.
                other.add(sum, onLeft: place.index < sibling.index)
                sum = other
            }
            place = Place(level: place.level + 1, index: place.index >> 1)
        }
        root = sum
        return true
    }

    /// Takes the sum out of the tree without a copy; nil while leaves are missing.
    package consuming func finish() -> GradientSum? {
        root
    }
}

extension GradientSum {
    /// self = self + other, or other + self, element by element.
    mutating func add(_ other: borrowing GradientSum, onLeft: Bool = false) {
        precondition(gradient.count == other.gradient.count, "gradients of different layouts")
        tokens += other.tokens
        lossTokens += other.lossTokens
        lossSum = onLeft ? other.lossSum + lossSum : lossSum + other.lossSum
        gradient.withUnsafeMutableBufferPointer { own in
            other.gradient.withUnsafeBufferPointer { other in
                // The order matters only where both are NaN, and costs nothing.
                if onLeft {
                    for i in 0..<own.count { own[i] = other[i] + own[i] }
                } else {
                    for i in 0..<own.count { own[i] += other[i] }
                }
            }
        }
    }
}
