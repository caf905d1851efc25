/// A weight of 8-bit floats (E4M3) with a scale for the whole, for each row, or for each block of rows
/// and columns: w = value x scale.
///
/// Bit for bit what transformers' `Fp8Dequantize` gives a model in fp32 (transformers 5.23), and what
/// compressed-tensors gives, which rounds the product to the type of the scales. Checked in
/// `GoldenMatrixTests`.
struct Float8Matrix: CompositeMatrix {
    /// Rows and columns that share a scale.
    struct Block: Equatable {
        let rows: Int
        let columns: Int
    }

    /// Which numbers share a scale.
    enum Grid: Equatable {
        case whole
        case rows
        case blocks(Block)
    }

    /// What config.json says about the weights.
    struct Settings: Equatable {
        let grid: Grid
        /// What the name of a weight's scales has after the weight's.
        var scaleEnding = "_scale_inv"
        /// Whether products are rounded to the type of the scales.
        var isRounded = false
        /// Scales of type U8 are exponents.
        var hasExponents = false
    }

    let shape: [Int]
    private let block: Block
    private let isRounded: Bool
    /// nil: powers of two (E8M0).
    private let scaleType: ScaleType?
    private let codes: StoredTensor
    private let scales: StoredTensor

    var typeName: String { "FP8 (E4M3)" }
    var exactType: ElementType { isRounded ? scaleType?.elementType ?? .f32 : .f32 }
    var byteCount: Int { codes.range.count + scales.range.count }
    var path: String { codes.path }

    /// - Parameters:
    ///   - settings: with blocks of at least 1 x 1.
    ///   - codes: F8_E4M3, [out, in].
    ///   - scales: F32, F16, BF16 or F8_E8M0; for the whole one number in any shape, for rows
    ///     [out, 1], for blocks [out / block rows, in / block columns], both rounded up.
    /// - Throws: `FormatError` for another type or shape.
    init(_ settings: Settings, codes: StoredTensor, scales: StoredTensor) throws {
        let (rows, columns) = try codes.matrix(of: "F8_E4M3")
        let grid: [Int]
        switch settings.grid {
        case .whole:
            grid = scales.elementCount == 1 ? scales.shape : [1]
            block = Block(rows: rows, columns: columns)
        case .rows:
            grid = [rows, 1]
            block = Block(rows: 1, columns: columns)
        case .blocks(let size):
            grid = [Self.blocks(rows, of: size.rows), Self.blocks(columns, of: size.columns)]
            block = size
        }
        let exponents = settings.hasExponents ? ["F8_E8M0", "U8"] : ["F8_E8M0"]
        try scales.require(types: ScaleType.names + exponents, shape: grid)
        shape = codes.shape
        scaleType = ScaleType(rawValue: scales.type)
        isRounded = settings.isRounded
        (self.codes, self.scales) = (codes, scales)
    }

    /// Rounded up, without a sum that could overflow.
    private static func blocks(_ count: Int, of size: Int) -> Int {
        count / size + (count % size == 0 ? 0 : 1)
    }

    /// The 256 numbers of E4M3: 4 bits of exponent with a bias of 7, 3 of fraction, no infinity.
    static let values: [Float] = (0..<256).map { code in
        let (exponent, fraction) = (code >> 3 & 15, code & 7)
        let magnitude: Float =
            switch (exponent, fraction) {
            case (15, 7): .nan
            case (0, _): Float(fraction) / 512
            default:
                Float(sign: .plus, exponent: exponent - 7, significand: 1 + Float(fraction) / 8)
            }
        return code < 128 ? magnitude : -magnitude
    }

    func dequantize(rows range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        switch scaleType {
        case .f32: dequantize(rows: range, into: out, as: SingleArithmetic.self)
        case .f16: dequantize(rows: range, into: out, as: Float16Arithmetic.self)
        case .bf16: dequantize(rows: range, into: out, as: BFloat16Arithmetic.self)
        case nil: dequantize(rows: range, into: out, as: ExponentArithmetic.self)
        }
    }

    private func dequantize<Arithmetic: RoundedArithmetic>(
        rows range: Range<Int>, into out: UnsafeMutablePointer<Float>, as _: Arithmetic.Type
    ) {
        let columns = shape[1]
        let across = Self.blocks(columns, of: block.columns)
        Self.values.withUnsafeBufferPointer { values in
            codes.withAddress { codes in
                scales.withAddress { scales in
                    for row in range {
                        let source = codes + row * columns
                        let y = out + (row - range.lowerBound) * columns
                        for place in 0..<across {
                            let scale = Arithmetic.load(
                                scales, at: row / block.rows * across + place)
                            let first = place * block.columns
                            for column in first..<(first + min(block.columns, columns - first)) {
                                let code = source.load(fromByteOffset: column, as: UInt8.self)
                                y[column] = values[Int(code)] * scale
                            }
                        }
                    }
                }
            }
        }
        if isRounded { Arithmetic.round(out, count: range.count * columns) }
    }
}
