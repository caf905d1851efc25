/// Where each trained matrix lies in the flat vector of all of them.
///
/// One order for parameters, gradients and optimizer moments, and so for every sum and every hash:
/// layer by layer, inside a layer by `TargetModule`'s order, A before B.
public struct ParameterLayout: Sendable, Equatable {
    public struct Entry: Sendable, Equatable {
        /// The tensor's name in a PEFT adapter file.
        public let name: String
        /// Row-major: A is [rank, in], B is [out, rank].
        public let shape: [Int]
        /// Index of its first element in the flat vector.
        public let offset: Int

        public var count: Int { shape.reduce(1, *) }
        public var range: Range<Int> { offset..<(offset + count) }
    }

    public let entries: [Entry]
    /// Elements of the flat vector.
    public let count: Int

    /// Lays the matrices out one behind the other in the given order.
    public init(_ matrices: [(name: String, shape: [Int])]) {
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
