import CSkeinKernels

extension InterleavedMatrix {
    /// Vectors that are multiplied together, prepared for every type of weights.
    ///
    /// Letters: `R` vectors, `K` columns.
    package struct Vectors {
        /// [R, K].
        package let x: UnsafePointer<Float>
        package let stride: Int
        /// [R, `spreadCount(columns:)`]; only Q4_0, Q4_1, Q4_K and Q5_K read it.
        package let spread: UnsafePointer<Float>
        package let spreadStride: Int
        package let count: Int

        package init(
            x: UnsafePointer<Float>, stride: Int, spread: UnsafePointer<Float>, spreadStride: Int,
            count: Int
        ) {
            self.x = x
            self.stride = stride
            self.spread = spread
            self.spreadStride = spreadStride
            self.count = count
        }

        /// Some of these vectors.
        package subscript(_ range: Range<Int>) -> Vectors {
            Vectors(
                x: x + range.lowerBound * stride, stride: stride,
                spread: spread + range.lowerBound * spreadStride, spreadStride: spreadStride,
                count: range.count)
        }
    }

    /// Floats from one spread vector to the next: whole cache lines, never a multiple of 4 KiB,
    /// which would put all vectors of a product into one set of the first-level cache.
    package static func spreadStride(columns: Int) -> Int {
        let lines = (spreadCount(columns: columns) + 15) / 16
        return (lines % 64 == 0 ? lines + 1 : lines) * 16
    }

    /// Y = (adding ? Y : 0) + X W^T for the rows of some groups: the weights are read once, and each
    /// vector gets the bits that `multiply(groups:_:spread:into:adding:)` gives it alone.
    ///
    /// Shapes and ranges:
    ///   - y: [R, `stride`]; only the groups' columns are written.
    package func multiply(
        groups range: Range<Int>, _ vectors: Vectors, into y: UnsafeMutablePointer<Float>,
        stride: Int, adding: Bool = false
    ) {
        let first = range.lowerBound * Self.groupRows
        var all = skein_vectors(
            x: vectors.x, stride_x: vectors.stride, spread: vectors.spread,
            stride_spread: vectors.spreadStride, count: vectors.count)
        skein_matvec_rows(
            skein_level(), element.kernel, address(ofGroup: range.lowerBound), columns,
            range.count, &all, y + first, stride,
            min(rows, range.upperBound * Self.groupRows) - first, adding ? 1 : 0)
    }
}
