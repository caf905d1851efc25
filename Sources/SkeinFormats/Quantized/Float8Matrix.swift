/// A weight of 8-bit floats (E4M3) with a scale for each block of rows and columns, as Qwen3-FP8 has:
/// w = value x scale, in Float.
///
/// Bit for bit what transformers' `Fp8Dequantize` gives a model in fp32 (transformers 5.23). Checked in
/// `GoldenMatrixTests`.
struct Float8Matrix: CompositeMatrix {
    /// Rows and columns that share a scale.
    struct Block: Equatable {
        let rows: Int
        let columns: Int
    }

    let shape: [Int]
    private let block: Block
    private let scaleType: ScaleType
    private let codes: StoredTensor
    private let scales: StoredTensor

    var typeName: String { "FP8 (E4M3)" }
    var exactType: ElementType { .f32 }
    var byteCount: Int { codes.range.count + scales.range.count }
    var path: String { codes.path }

    /// - Parameters:
    ///   - block: at least 1 x 1; nil if one scale serves the whole matrix.
    ///   - codes: F8_E4M3, [out, in].
    ///   - scales: F32, F16 or BF16, [out / block rows, in / block columns], both rounded up; one
    ///     number in any shape for a nil block.
    /// - Throws: `FormatError` for another type or shape.
    init(block: Block?, codes: StoredTensor, scales: StoredTensor) throws {
        guard codes.type == "F8_E4M3", codes.shape.count == 2 else {
            throw FormatError.badTensor(
                path: codes.path, tensor: codes.name, field: "element type and dimensions",
                expected: "F8_E4M3 and 2", found: "\(codes.type) and \(codes.shape.count)")
        }
        let (rows, columns) = (codes.shape[0], codes.shape[1])
        let grid: [Int]
        if let block {
            grid = [Self.blocks(rows, of: block.rows), Self.blocks(columns, of: block.columns)]
        } else {
            grid = scales.elementCount == 1 ? scales.shape : [1]
        }
        try scales.require(types: ScaleType.names, shape: grid)
        guard let type = ScaleType(rawValue: scales.type) else {
            preconditionFailure("the type has just been checked")
        }
        shape = codes.shape
        scaleType = type
        self.block = block ?? Block(rows: max(1, rows), columns: max(1, columns))
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
    }
}
