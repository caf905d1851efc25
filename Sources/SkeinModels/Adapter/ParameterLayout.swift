/// Where each trained matrix is in the flat vector of all of them.
///
/// One order for parameters, gradients and optimizer moments, and so for every sum and every hash:
/// layer by layer, inside a layer by `TargetModule`'s order, A before B.
package struct ParameterLayout: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// The tensor's name in a PEFT adapter file.
        package let name: String
        /// Row-major: A is [rank, in], B is [out, rank].
        package let shape: [Int]
        /// Index of its first element in the flat vector.
        package let offset: Int

        package var count: Int { shape.reduce(1, *) }
        package var range: Range<Int> { offset..<(offset + count) }
    }

    package let entries: [Entry]
    /// Elements of the flat vector.
    package let count: Int

    /// Lays the matrices out one after the other in the given order.
    package init(_ matrices: [(name: String, shape: [Int])]) {
        var entries: [Entry] = []
        var offset = 0
        for matrix in matrices {
            let entry = Entry(name: matrix.name, shape: matrix.shape, offset: offset)
            entries.append(entry)
            offset += entry.count
        }
        self.entries = entries
        count = offset
    }
}
