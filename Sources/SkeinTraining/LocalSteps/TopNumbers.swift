import SkeinTensors

/// The numbers of largest magnitude of a vector, and where they are.
///
/// Among equal magnitudes the lower index goes first. The values are rounded as
/// `GradientCodec.int8` rounds a gradient, 64 neighbours among those that are kept with one scale.
/// An index is the gap to the one before. With 1 number in 32 a gap has 6.4 bits of entropy, and
/// zstd makes about that.
enum TopNumbers {
    /// How many numbers are kept: at least one.
    static func kept(_ density: Double, of count: Int) -> Int {
        min(count, max(1, Int((density * Double(count)).rounded(.up))))
    }

    /// Four planes of gaps, four of scales, one of levels.
    static func mostPackedBytes(kept: Int) -> Int {
        PackedPlanes.mostBytes(planes: 9, planeBytes: 5 * kept + 4 * GradientCodec.blocks(kept))
    }

    /// Keeps the largest of `values`, rounded, and sets the others to 0.
    ///
    /// - Parameters:
    ///   - values: finite.
    ///   - kept: how many stay.
    ///   - address: of the vector.
    /// - Returns: the packed message.
    static func pack(
        _ values: inout [Float], kept: Int, _ address: DeltaCodec.Address
    ) -> [UInt8] {
        let count = values.count
        let indices = largest(of: values, count: kept)
        var chosen = indices.map { values[$0] }
        let blocks = GradientCodec.blocks(kept)
        var levels = [Int8](repeating: 0, count: kept)
        var scales = [Float](repeating: 0, count: blocks)
        chosen.withUnsafeMutableBufferPointer { chosen in
            levels.withUnsafeMutableBufferPointer { levels in
                scales.withUnsafeMutableBufferPointer { scales in
                    guard let base = chosen.baseAddress else { return }
                    GradientCodec.roundLevels(
                        base, count: kept, (address.seed, address.round, address.sender),
                        levels: levels.baseAddress, scales: scales.baseAddress)
                }
            }
        }
        values = [Float](repeating: 0, count: count)
        for (place, index) in indices.enumerated() { values[index] = chosen[place] }
        return levels.withUnsafeBytes { levels in
            PackedWriter.bytes(
                capacity: mostPackedBytes(kept: kept), kind: .topNumbers, count: count
            ) {
                $0.appendPlanes(kept, width: 4, level: GradientCodec.levelsLevel) { place in
                    UInt32(indices[place] - (place == 0 ? 0 : indices[place - 1] + 1))
                }
                $0.appendPlanes(blocks, width: 4, level: GradientCodec.exponentLevel) {
                    BytePlanes.rotated(scales[$0])
                }
                $0.append(plane: levels, level: GradientCodec.levelsLevel)
            }
        }
    }

    /// Makes the vector from the bytes of `pack`, or from one that is not finite and whole.
    ///
    /// - Throws: `CodecError`.
    static func unpack(
        _ bytes: [UInt8], count: Int, kept: Int, limit: Int
    ) throws -> [Float] {
        try bytes.withUnsafeBytes { bytes in
            var reader = try PackedReader(
                bytes, count: count, limit: limit, kinds: [.topNumbers, .fp32])
            guard reader.kind == .topNumbers else {
                let values = try GradientCodec.unpackWhole(&reader, count: count)
                try reader.finish()
                guard GradientNorm.firstNotFinite(in: values) != nil else {
                    throw CodecError.notRounded
                }
                return values
            }
            var gaps = [UInt32](repeating: 0, count: kept)
            try reader.fourPlanes(kept) { planes in
                for place in 0..<kept { gaps[place] = BytePlanes.word(planes, place) }
            }
            let scales = try GradientCodec.unpackWhole(
                &reader, count: GradientCodec.blocks(kept))
            let levels = try reader.plane(kept)
            var values = [Float](repeating: 0, count: count)
            var index = -1
            for place in 0..<kept {
                index += Int(gaps[place]) + 1
                guard index < count else {
                    throw CodecError.indexOutOfRange(found: index, count: count)
                }
                values[index] = GradientCodec.value(
                    Int8(bitPattern: levels[place]), scales[place / GradientCodec.blockCount])
            }
            try reader.finish()
            return values
        }
    }

    /// The indices of the `count` numbers of largest magnitude, ascending.
    ///
    /// Two histograms of the bit patterns find the smallest of them: no sorting.
    static func largest(of values: [Float], count: Int) -> [Int] {
        guard count < values.count else { return Array(values.indices) }
        func magnitude(_ value: Float) -> Int { Int(value.bitPattern & 0x7FFF_FFFF) }
        /// The bin in which the number at place `rank`, the largest first, is; and its place there.
        func find(_ rank: Int, in bins: [Int]) -> (bin: Int, rank: Int) {
            var left = rank
            for bin in bins.indices.reversed() {
                if left < bins[bin] { return (bin, left) }
                left -= bins[bin]
            }
            return (0, 0)
        }
        var upper = [Int](repeating: 0, count: 1 << 16)
        for value in values { upper[magnitude(value) >> 15] += 1 }
        let coarse = find(count - 1, in: upper)
        var lower = [Int](repeating: 0, count: 1 << 15)
        for value in values where magnitude(value) >> 15 == coarse.bin {
            lower[magnitude(value) & 0x7FFF] += 1
        }
        let fine = find(coarse.rank, in: lower)
        let least = coarse.bin << 15 | fine.bin
        var equalsLeft = fine.rank + 1
        var indices: [Int] = []
        indices.reserveCapacity(count)
        for index in values.indices {
            let own = magnitude(values[index])
            if own > least {
                indices.append(index)
            } else if own == least, equalsLeft > 0 {
                equalsLeft -= 1
                indices.append(index)
            }
        }
        return indices
    }
}
