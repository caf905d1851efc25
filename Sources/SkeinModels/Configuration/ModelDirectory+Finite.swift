import SkeinFormats

extension ModelDirectory {
    /// The first weight that is NaN or infinite, as the error that names its tensor, file and place.
    ///
    /// It reads all weights, as Floats in the order of the design: seconds for a model of gigabytes. So
    /// it is asked once a loss, a gradient or a logit has turned out not to be finite, to tell a model
    /// that is damaged from a run that has diverged. Checked by FiniteWeightsTests.
    ///
    /// - Returns: `FormatError.notFinite`; nil when all weights are finite.
    /// - Throws: `FormatError.missingTensor`.
    package func firstNotFiniteWeight() throws -> FormatError? {
        for (name, _) in configuration.requiredTensors {
            let view = try tensor(name)
            let columns = view.columns
            let most = max(1, Self.scannedElements / max(1, columns))
            var rows = [Float](repeating: 0, count: min(most, view.rows) * columns)
            for start in stride(from: 0, to: view.rows, by: most) {
                let range = start..<min(start + most, view.rows)
                let place = rows.withUnsafeMutableBufferPointer { rows -> Int? in
                    guard let base = rows.baseAddress else { return nil }
                    view.dequantize(rows: range, into: base)
                    return Self.firstNotFinite(base, count: range.count * columns)
                }
                guard let place else { continue }
                return .notFinite(
                    path: view.path, tensor: name, row: start + place / columns,
                    column: place % columns, value: rows[place].isNaN ? "nan" : "\(rows[place])")
            }
        }
        return nil
    }

    /// Floats that are read at once: they stay in a core's cache.
    private static let scannedElements = 1 << 16

    private static func firstNotFinite(_ numbers: UnsafePointer<Float>, count: Int) -> Int? {
        // Without the sign, and one added to the exponent: the top bit is set only if the exponent
        // was all ones.
        var sums: UInt32 = 0
        for i in 0..<count { sums |= (numbers[i].bitPattern & 0x7FFF_FFFF) &+ 0x0080_0000 }
        guard sums & 0x8000_0000 != 0 else { return nil }
        return (0..<count).first { !numbers[$0].isFinite }
    }
}

extension Error {
    /// The error that names a weight of `model` that is not finite, where there is one: what led to
    /// this error, which says that a computed number is not finite.
    ///
    /// - Parameter model: what computed.
    /// - Returns: `FormatError.notFinite`, or this error.
    package func traced(to model: ModelDirectory) -> any Error {
        // A tensor that is missing would be no better explanation than this error.
        guard let found = try? model.firstNotFiniteWeight() else { return self }
        return found
    }
}
