import SkeinBasics

/// What a logical worker carries from one round to the next: AdamW's moments and what coding its
/// changes has lost so far. It is named by its SHA-256.
package struct LocalState: Sendable, Equatable {
    /// AdamW steps done.
    package let steps: Int
    /// [first moments, second moments, coding error], as many numbers each.
    package let values: [Float]

    /// Before the first round.
    ///
    /// - Parameter count: parameters of the adapter.
    package init(count: Int) {
        steps = 0
        values = [Float](repeating: 0, count: 3 * count)
    }

    package init(steps: Int, averages: [Float], squareAverages: [Float], error: [Float]) {
        precondition(
            averages.count == error.count && squareAverages.count == error.count,
            "moments of another adapter")
        self.steps = steps
        values = averages + squareAverages + error
    }

    private init(steps: Int, values: [Float]) {
        self.steps = steps
        self.values = values
    }

    var count: Int { values.count / 3 }
    package var averages: [Float] { Array(values[..<count]) }
    package var squareAverages: [Float] { Array(values[count..<(2 * count)]) }
    package var error: [Float] { Array(values[(2 * count)...]) }

    /// Names the state: SHA-256 of its numbers as fp32, little endian, and of the count of its steps
    /// (u64).
    package var digest: SHA256.Digest {
        var hash = SHA256()
        values.withUnsafeBytes { hash.update($0) }
        withUnsafeBytes(of: UInt64(steps).littleEndian) { hash.update($0) }
        return hash.finish()
    }

    /// The most bytes of a packed state of `count` parameters.
    package static func mostPackedBytes(count: Int) -> Int {
        ParameterCodec.mostPackedBytes(count: 3 * count)
    }

    /// The numbers for the wire; the count of steps follows from the plan.
    package var packed: [UInt8] { ParameterCodec.snapshot(values) }

    /// Reads back what `packed` returned.
    ///
    /// - Parameters:
    ///   - bytes: from anywhere.
    ///   - count: parameters of the adapter.
    ///   - steps: AdamW steps that the state has done.
    /// - Throws: `CodecError`.
    package init(packed bytes: [UInt8], count: Int, steps: Int) throws {
        self.init(
            steps: steps, values: try ParameterCodec.parameters(of: bytes, count: 3 * count))
    }
}
