/// A weight of MLX's affine quantization: w = scale q + bias for each group of a row.
///
/// Bit for bit what `mlx.core.dequantize` gives (mlx 0.32): scales and biases are F32, F16 or BF16,
/// and both the product and the sum are rounded to that type. Codes are `bits` wide, the first of a row
/// in the lowest bits of its first word. Checked in `GoldenMatrixTests`.
struct AffineMatrix: CompositeMatrix {
    /// What config.json says about the weight.
    struct Settings: Equatable {
        let bits: Int
        let groupSize: Int
    }

    let shape: [Int]
    private let settings: Settings
    private let scaleType: ScaleType
    private let codes: StoredTensor
    private let scales: StoredTensor
    private let biases: StoredTensor

    var typeName: String { "MLX \(settings.bits)-bit in groups of \(settings.groupSize)" }
    var exactType: ElementType { scaleType.elementType }
    var byteCount: Int { codes.range.count + scales.range.count + biases.range.count }
    var path: String { codes.path }

    /// - Parameters:
    ///   - settings: bits of 2, 3, 4, 5, 6, 8 and group sizes of 32, 64, 128.
    ///   - codes: U32, [out, in x bits / 32].
    ///   - scales: F32, F16 or BF16, [out, in / group size].
    ///   - biases: as the scales.
    /// - Throws: `FormatError` for another type or shape.
    init(
        _ settings: Settings, codes: StoredTensor, scales: StoredTensor, biases: StoredTensor
    ) throws {
        let (rows, words) = try codes.matrix(of: "U32")
        let (columns, rest) = (words * 32).quotientAndRemainder(dividingBy: settings.bits)
        guard rest == 0, columns % settings.groupSize == 0 else {
            throw FormatError.badTensor(
                path: codes.path, tensor: codes.name, field: "row length",
                expected: "whole groups of \(settings.groupSize) codes of \(settings.bits) bits",
                found: "\(words) words")
        }
        try scales.require(
            types: ScaleType.names, shape: [rows, columns / settings.groupSize])
        try biases.require(types: [scales.type], shape: scales.shape)
        guard let type = ScaleType(rawValue: scales.type) else {
            preconditionFailure("the type has just been checked")
        }
        shape = [rows, columns]
        scaleType = type
        (self.settings, self.codes, self.scales, self.biases) = (settings, codes, scales, biases)
    }

    func dequantize(rows range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        switch scaleType {
        case .f32: dequantize(rows: range, into: out, as: SingleArithmetic.self)
        case .f16: dequantize(rows: range, into: out, as: Float16Arithmetic.self)
        case .bf16: dequantize(rows: range, into: out, as: BFloat16Arithmetic.self)
        }
    }

    private func dequantize<Arithmetic: RoundedArithmetic>(
        rows range: Range<Int>, into out: UnsafeMutablePointer<Float>, as _: Arithmetic.Type
    ) {
        let (bits, size) = (settings.bits, settings.groupSize)
        let groups = shape[1] / size
        let groupBytes = size / 8 * bits
        codes.withAddress { codes in
            scales.withAddress { scales in
                biases.withAddress { biases in
                    var y = out
                    for group in (range.lowerBound * groups)..<(range.upperBound * groups) {
                        Self.group(
                            codes + group * groupBytes, bits: bits, count: size,
                            scale: Arithmetic.load(scales, at: group),
                            bias: Arithmetic.load(biases, at: group), into: y,
                            as: Arithmetic.self)
                        y += size
                    }
                }
            }
        }
    }

    /// `count` codes, a multiple of 32.
    @inline(__always)
    private static func group<Arithmetic: RoundedArithmetic>(
        _ codes: UnsafeRawPointer, bits: Int, count: Int, scale: Float, bias: Float,
        into y: UnsafeMutablePointer<Float>, as _: Arithmetic.Type
    ) {
        let mask = UInt32(1) &<< UInt32(bits) &- 1
        let width = UInt32(bits)
        let shifts = SIMD4<UInt32>(0, width, 2 &* width, 3 &* width)
        let groupBytes = count / 8 * bits
        for octet in 0..<(count / 8) {
            // Eight codes are `bits` bytes. The last words of a group are read from its last eight
            // bytes, so that nothing beyond it is touched.
            let start = octet * bits
            let place = min(start, groupBytes - 8)
            let word =
                (codes + place).loadUnaligned(as: UInt64.self)
                &>> UInt64((start - place) * 8)
            for half in 0..<2 {
                let four = UInt32(truncatingIfNeeded: word &>> UInt64(half * 4 * bits))
                let q = (SIMD4(repeating: four) &>> shifts) & mask
                let product = Arithmetic.round(
                    SIMD4<Float>(SIMD4<Int32>(truncatingIfNeeded: q)) * scale)
                QuantizationBlocks.store(
                    Arithmetic.round(product + bias), to: y + octet * 8 + half * 4)
            }
        }
    }
}
