/// Q4_K and Q6_K: 256 numbers share one or two f16 scales, whose parts of 32 or 16 numbers have
/// scales of 6 or 8 bits.
///
/// The scale of a part is searched for: 19 or 21 guesses at it round the numbers to codes, and
/// each time least squares give the best scale for these codes. As llama.cpp's make_qx_quants and
/// make_qkx2_quants in its file of quantizers; sums here are of four lanes.
extension BlockEncoding {
    /// Below it, a part of a block counts as zero.
    private static let leastMagnitude: Float = 1e-15

    /// d and dmin, 12 bytes of 6-bit scales and minima, 128 bytes: x = d s q - dmin m.
    static func q4K(_ x: UnsafePointer<Float>, _ blocks: Int, _ out: UnsafeMutableRawPointer) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 64) { scratch in
            guard let scratch = scratch.baseAddress else { return }
            for index in 0..<blocks { q4KBlock(x + index * 256, out + index * 144, scratch) }
        }
    }

    private static func q4KBlock(
        _ x: UnsafePointer<Float>, _ block: UnsafeMutableRawPointer,
        _ scratch: UnsafeMutablePointer<Float>
    ) {
        var (scales, minima) = (SIMD8<Float>(), SIMD8<Float>())
        for part in 0..<8 {
            let fit = rangeFit(x + part * 32, weights: scratch, codes: scratch + 32)
            (scales[part], minima[part]) = (fit.scale, -fit.least)
        }
        let (largest, lowest) = (max(0, scales.max()), max(0, minima.max()))
        let (d, minimum) = (half(largest / 63), half(lowest / 63))
        block.storeBytes(of: d, as: UInt16.self)
        block.storeBytes(of: minimum, toByteOffset: 2, as: UInt16.self)
        let packed = block + 4
        packed.initializeMemory(as: UInt8.self, repeating: 0, count: 140)
        let (inverse, inverseMinimum) = (
            largest > 0 ? 63 / largest : 0, lowest > 0 ? 63 / lowest : 0
        )
        let (step, offset) = (wide(d), wide(minimum))
        for part in 0..<8 {
            let s = min(63, nearest(inverse * scales[part]))
            let m = min(63, nearest(inverseMinimum * minima[part]))
            pack(UInt8(max(0, s)), UInt8(max(0, m)), of: part, into: packed)
            let scale = step * s
            guard scale > 0 else { continue }
            let base = offset * m
            let codes = block + 16 + part / 2 * 32
            for lane in stride(from: 0, to: 32, by: 4) {
                let q = codesOf(nearest((lanes(x + part * 32 + lane) + base) / scale), 15)
                let known = codes.loadUnaligned(fromByteOffset: lane, as: SIMD4<UInt8>.self)
                codes.storeBytes(
                    of: known | (q &<< (part % 2 == 0 ? 0 : 4)), toByteOffset: lane,
                    as: SIMD4<UInt8>.self)
            }
        }
    }

    /// Puts the 6-bit scale and minimum of a part where `QuantizationBlocks` reads them: those of
    /// parts 4 ... 7 lie in nibbles of bytes 8 ..< 12 and in the upper bits of the others.
    private static func pack(
        _ s: UInt8, _ m: UInt8, of part: Int, into packed: UnsafeMutableRawPointer
    ) {
        func add(_ bits: UInt8, _ index: Int) {
            let known = packed.load(fromByteOffset: index, as: UInt8.self)
            packed.storeBytes(of: known | bits, toByteOffset: index, as: UInt8.self)
        }
        if part < 4 {
            add(s, part)
            add(m, part + 4)
        } else {
            add((s & 15) | (m &<< 4), part + 4)
            add((s &>> 4) &<< 6, part - 4)
            add((m &>> 4) &<< 6, part)
        }
    }

    /// `scale` and `least` <= 0 of 32 numbers, x = scale q + least with q of 0 ... 15, that minimize
    /// sum w (scale q + least - x)^2 with w = root mean square + |x|.
    ///
    /// `weights`, `codes`: scratch of 32 floats each.
    private static func rangeFit(
        _ x: UnsafePointer<Float>, weights: UnsafeMutablePointer<Float>,
        codes: UnsafeMutablePointer<Float>
    ) -> (scale: Float, least: Float) {
        var squares = Lanes()
        var (low, high) = (lanes(x), lanes(x))
        for lane in stride(from: 0, to: 32, by: 4) {
            let x = lanes(x + lane)
            squares += x * x
            low.replace(with: x, where: x .< low)
            high.replace(with: x, where: x .> high)
        }
        let least = min(0, low.min())
        let greatest = high.max()
        guard greatest > least else { return (0, least) }
        let typical = (squares.sum() / 32).squareRoot()
        var (sumW, sumX) = (Lanes(), Lanes())
        for lane in stride(from: 0, to: 32, by: 4) {
            let x = lanes(x + lane)
            let w = typical + magnitude(x)
            QuantizationBlocks.store(w, to: weights + lane)
            sumW += w
            sumX += w * x
        }
        let sums = (w: sumW.sum(), x: sumX.sum())
        var best = (scale: (greatest - least) / 15, least: least)
        _ = refined(x, weights, codes, 15 / (greatest - least), least, sums)
        var bestError = error(x, weights, codes, best)
        for guess in 0...20 {
            // From the best offset so far: with the first one, outliers cost 8 % more.
            let inverse = (14 + 0.1 * Float(guess)) / (greatest - best.least)
            guard let fit = refined(x, weights, codes, inverse, best.least, sums) else { continue }
            let error = error(x, weights, codes, fit)
            if error < bestError { (best, bestError) = (fit, error) }
        }
        return best
    }

    @inline(__always)
    private static func magnitude(_ x: Lanes) -> Lanes {
        unsafeBitCast(unsafeBitCast(x, to: SIMD4<UInt32>.self) & 0x7fff_ffff, to: Lanes.self)
    }

    /// Rounds to codes by `inverse`, from `least`, and gives the best scale and offset for these; nil
    /// when all codes are equal.
    @inline(__always)
    private static func refined(
        _ x: UnsafePointer<Float>, _ weights: UnsafePointer<Float>,
        _ codes: UnsafeMutablePointer<Float>, _ inverse: Float, _ least: Float,
        _ sums: (w: Float, x: Float)
    ) -> (scale: Float, least: Float)? {
        var (sumQ, sumQQ, sumXQ) = (Lanes(), Lanes(), Lanes())
        for lane in stride(from: 0, to: 32, by: 4) {
            let x = lanes(x + lane)
            let q = bounded(nearest((x - least) * inverse), 0, 15)
            QuantizationBlocks.store(q, to: codes + lane)
            let weighted = lanes(weights + lane) * q
            sumQ += weighted
            sumQQ += weighted * q
            sumXQ += weighted * x
        }
        let (q, qq, xq) = (sumQ.sum(), sumQQ.sum(), sumXQ.sum())
        let determinant = sums.w * qq - q * q
        guard determinant > 0 else { return nil }
        let offset = (qq * sums.x - q * xq) / determinant
        if offset > 0 { return (xq / qq, 0) }
        return ((sums.w * xq - sums.x * q) / determinant, offset)
    }

    @inline(__always)
    private static func error(
        _ x: UnsafePointer<Float>, _ weights: UnsafePointer<Float>,
        _ codes: UnsafePointer<Float>, _ fit: (scale: Float, least: Float)
    ) -> Float {
        var sum = Lanes()
        for lane in stride(from: 0, to: 32, by: 4) {
            let difference = lanes(codes + lane) * fit.scale + fit.least - lanes(x + lane)
            sum += lanes(weights + lane) * difference * difference
        }
        return sum.sum()
    }

    /// 128 bytes of low and 64 of high bits, 16 signed scales, d: x = d s (q - 32).
    static func q6K(_ x: UnsafePointer<Float>, _ blocks: Int, _ out: UnsafeMutableRawPointer) {
        for index in 0..<blocks { q6KBlock(x + index * 256, out + index * 210) }
    }

    private static func q6KBlock(_ x: UnsafePointer<Float>, _ block: UnsafeMutableRawPointer) {
        var scales = SIMD16<Float>()
        for part in 0..<16 { scales[part] = symmetricFit(x + part * 16) }
        block.initializeMemory(as: UInt8.self, repeating: 0, count: 210)
        let largest = withUnsafeBytes(of: scales) { bytes in
            bytes.withMemoryRebound(to: Float.self) { scales in
                scales.baseAddress.map { extreme($0, 16) } ?? 0
            }
        }
        guard abs(largest) >= leastMagnitude else { return }
        let inverse = -128 / largest
        let d = half(1 / inverse)
        block.storeBytes(of: d, toByteOffset: 208, as: UInt16.self)
        let step = wide(d)
        for part in 0..<16 {
            let s = min(127, nearest(inverse * scales[part]))
            block.storeBytes(of: Int8(max(-128, s)), toByteOffset: 192 + part, as: Int8.self)
            let scale = step * s
            for lane in stride(from: 0, to: 16, by: 4) {
                let place = part * 16 + lane
                // Without a scale all numbers are zero, whatever the codes.
                let scaled = scale == 0 ? Lanes() : lanes(x + place) / scale
                let q = codesOf(nearest(bounded(scaled, -64, 64)) + 32, 63)
                // Halves of 128 numbers; in each, four rows of 32.
                let (half, row, column) = (place / 128, place % 128 / 32, place % 32)
                add(q & 15, row / 2 * 4, block + half * 64 + row % 2 * 32 + column)
                add(q &>> 4, row * 2, block + 128 + half * 32 + column)
            }
        }
    }

    /// The scale of 16 numbers, x = scale q with q of -32 ... 31, that minimizes
    /// sum x^2 (scale q - x)^2.
    private static func symmetricFit(_ x: UnsafePointer<Float>) -> Float {
        let extreme = extreme(x, 16)
        guard abs(extreme) >= leastMagnitude else { return 0 }
        var (scale, best): (Float, Float) = (0, 0)
        // The plain guess first: others must be better.
        for guess in [0, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9] {
            let inverse = -(32 + 0.1 * Float(guess)) / extreme
            var (sumXQ, sumQQ) = (Lanes(), Lanes())
            for lane in stride(from: 0, to: 16, by: 4) {
                let x = lanes(x + lane)
                let q = bounded(nearest(x * inverse), -32, 31)
                let weighted = x * x * q
                sumXQ += weighted * x
                sumQQ += weighted * q
            }
            let (xq, qq) = (sumXQ.sum(), sumQQ.sum())
            guard qq > 0 else { continue }
            if guess == 0 || xq * xq > best * qq { (scale, best) = (xq / qq, xq * xq / qq) }
        }
        return scale
    }

    /// Whole numbers as codes of 0 ... `highest`.
    @inline(__always)
    private static func codesOf(_ x: Lanes, _ highest: Float) -> SIMD4<UInt8> {
        SIMD4<UInt8>(truncatingIfNeeded: integers(bounded(x, 0, highest)))
    }

    @inline(__always)
    private static func add(
        _ bits: SIMD4<UInt8>, _ count: Int, _ place: UnsafeMutableRawPointer
    ) {
        let known = place.loadUnaligned(as: SIMD4<UInt8>.self)
        place.storeBytes(
            of: known | (bits &<< UInt8(truncatingIfNeeded: count)), as: SIMD4<UInt8>.self)
    }

    /// The f16 `bits` as Float.
    @inline(__always)
    private static func wide(_ bits: UInt16) -> Float {
        withUnsafeBytes(of: bits) { bytes in
            bytes.baseAddress.map { QuantizationBlocks.half(at: $0) } ?? 0
        }
    }
}
