import SkeinBasics

/// A weight of bitsandbytes' 4-bit quantization: w = table[code] x absmax for each block of the
/// flattened matrix, rounded to the type that the weight had.
///
/// Bit for bit what `bitsandbytes.functional.dequantize_4bit` gives (0.50.2, the default backend and
/// CUDA; its CPU kernel differs where a block spans two rows). Two codes a byte, the first in the upper
/// nibble. Checked in `GoldenMatrixTests`.
struct CodebookMatrix: CompositeMatrix {
    enum Table: String {
        case nf4
        case fp4

        var values: SIMD16<Float> {
            switch self {
            case .nf4:
                SIMD16(
                    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
                    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
                    0.07958029955625534, 0.16093020141124725, 0.24611230194568634,
                    0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                    0.7229568362236023, 1.0)
            case .fp4:
                SIMD16(
                    0.0, 0.0052083334885537624, 0.6666666865348816, 1.0, 0.3333333432674408, 0.5,
                    0.1666666716337204, 0.25, 0.0, -0.0052083334885537624, -0.6666666865348816,
                    -1.0, -0.3333333432674408, -0.5, -0.1666666716337204, -0.25)
            }
        }
    }

    let shape: [Int]
    private let state: CodebookState
    private let codes: StoredTensor
    private let parts: CodebookParts

    var typeName: String { state.table.rawValue.uppercased() }
    var exactType: ElementType { state.type.elementType }
    var byteCount: Int { codes.range.count + parts.byteCount }
    var path: String { codes.path }

    /// - Parameters:
    ///   - state: what the tensor's quant_state says.
    ///   - codes: of any type: ceil(out x in / 2) bytes.
    ///   - parts: the tensors beside it.
    /// - Throws: `FormatError` for another length, or a table that is not the type's.
    init(_ state: CodebookState, codes: StoredTensor, parts: CodebookParts) throws {
        let count = state.rows * state.columns
        guard codes.range.count == count / 2 + count % 2 else {
            throw FormatError.badTensor(
                path: codes.path, tensor: codes.name, field: "byte count",
                expected: String(count / 2 + count % 2), found: String(codes.range.count))
        }
        try parts.check(state)
        shape = [state.rows, state.columns]
        (self.state, self.codes, self.parts) = (state, codes, parts)
    }

    func dequantize(rows range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        let elements = (range.lowerBound * state.columns)..<(range.upperBound * state.columns)
        QuantizationBlocks.withTable(state.table.values) { values in
            codes.withAddress { codes in
                parts.withScales(state) { scale in
                    var element = elements.lowerBound
                    while element < elements.upperBound {
                        let block = element / state.blockSize
                        let end = min(elements.upperBound, (block + 1) * state.blockSize)
                        let absmax = scale(block)
                        let y = out - elements.lowerBound
                        // Both codes of a byte at once, but for a half byte at either end.
                        if element % 2 == 1 {
                            let byte = codes.load(fromByteOffset: element / 2, as: UInt8.self)
                            y[element] = values[Int(byte & 15)] * absmax
                            element += 1
                        }
                        while element + 1 < end {
                            let byte = codes.load(fromByteOffset: element / 2, as: UInt8.self)
                            y[element] = values[Int(byte &>> 4)] * absmax
                            y[element + 1] = values[Int(byte & 15)] * absmax
                            element += 2
                        }
                        if element < end {
                            let byte = codes.load(fromByteOffset: element / 2, as: UInt8.self)
                            y[element] = values[Int(byte &>> 4)] * absmax
                        }
                        element = end
                    }
                }
            }
        }
        switch state.type {
        case .f32: break
        case .f16: Float16Arithmetic.round(out, count: elements.count)
        case .bf16: BFloat16Arithmetic.round(out, count: elements.count)
        }
    }
}

/// What the JSON in a weight's quant_state tensor says.
struct CodebookState {
    let table: CodebookMatrix.Table
    let blockSize: Int
    /// The type that the weight had.
    let type: ScaleType
    let rows: Int
    let columns: Int
    /// Block scales that are quantized themselves.
    let nested: Nested?

    struct Nested {
        let blockSize: Int
        let offset: Float
    }

    private struct Text: Decodable {
        let kind: String
        let blockSize: Int
        let type: String
        let shape: [Int]
        let nestedBlockSize: Int?
        let nestedType: String?
        let nestedOffset: Double?

        enum CodingKeys: String, CodingKey {
            case kind = "quant_type"
            case blockSize = "blocksize"
            case type = "dtype"
            case shape
            case nestedBlockSize = "nested_blocksize"
            case nestedType = "nested_dtype"
            case nestedOffset = "nested_offset"
        }
    }

    private static let types: [String: ScaleType] = [
        "float32": .f32, "float16": .f16, "bfloat16": .bf16,
    ]

    /// - Parameters:
    ///   - tensor: U8, the text.
    ///   - table: what the tensor's name says.
    /// - Throws: `FormatError` when it is not valid or too long.
    init(_ tensor: StoredTensor, _ table: CodebookMatrix.Table) throws {
        func bad(_ field: String, _ expected: String, _ found: String) -> FormatError {
            .badTensor(
                path: tensor.path, tensor: tensor.name, field: field, expected: expected,
                found: found)
        }
        guard tensor.type == "U8", tensor.range.count <= Limits.quantStateBytes else {
            throw bad(
                "text", "at most \(Limits.quantStateBytes) bytes of U8",
                "\(tensor.range.count) of \(tensor.type)")
        }
        let text = try tensor.file.withBytes { bytes in
            do {
                return try JSONFile.decode(
                    Text.self, bytes: UnsafeRawBufferPointer(rebasing: bytes[tensor.range]),
                    path: tensor.path)
            } catch let error as FormatError {
                throw bad("text", "the JSON of a quantization state", error.explanation.what)
            }
        }
        guard text.kind == table.rawValue else {
            throw bad("quant_type", table.rawValue, text.kind)
        }
        guard (32...4096).contains(text.blockSize), text.blockSize.nonzeroBitCount == 1 else {
            throw bad("blocksize", "a power of two from 32 to 4096", String(text.blockSize))
        }
        guard let type = Self.types[text.type] else {
            throw bad("dtype", Self.types.keys.sorted().joined(separator: " or "), text.type)
        }
        guard text.shape.count == 2, text.shape.allSatisfy({ (1...Limits.matrixSide).contains($0) })
        else {
            throw bad("shape", "two sizes of 1 to \(Limits.matrixSide)", "\(text.shape)")
        }
        if let size = text.nestedBlockSize {
            guard (1...4096).contains(size) else {
                throw bad("nested_blocksize", "1 to 4096", String(size))
            }
            guard text.nestedType == "float32" else {
                throw bad("nested_dtype", "float32", text.nestedType ?? "missing")
            }
            guard let offset = text.nestedOffset else {
                throw bad("nested_offset", "a number", "missing")
            }
            nested = Nested(blockSize: size, offset: Float(offset))
        } else {
            nested = nil
        }
        (self.table, self.type, blockSize) = (table, type, text.blockSize)
        (rows, columns) = (text.shape[0], text.shape[1])
    }
}

/// The tensors beside a weight of bitsandbytes.
struct CodebookParts {
    /// F32, one for each block; U8 if nested.
    let absmax: StoredTensor
    /// The 16 values of the codes.
    let map: StoredTensor
    /// F32, one for each block of `absmax`.
    let nestedAbsmax: StoredTensor?
    /// The 256 values of the codes in `absmax`.
    let nestedMap: StoredTensor?

    var byteCount: Int {
        [absmax, map, nestedAbsmax, nestedMap].reduce(0) { $0 + ($1?.range.count ?? 0) }
    }

    /// - Throws: `FormatError` for a part of another type or shape, or another table.
    func check(_ state: CodebookState) throws {
        let count = state.rows * state.columns
        let blocks = (count + state.blockSize - 1) / state.blockSize
        try absmax.require(types: [state.nested == nil ? "F32" : "U8"], shape: [blocks])
        try map.require(types: ["F32"], shape: [16])
        var isTable = false
        map.withAddress { address in
            let found = address.loadUnaligned(as: SIMD16<Float>.self)
            // Equal numbers: the sign of FP4's second zero is not the same in all versions.
            isTable = found == state.table.values
        }
        guard isTable else {
            throw FormatError.badTensor(
                path: map.path, tensor: map.name, field: "elements",
                expected: "the table of \(state.table.rawValue.uppercased())", found: "others")
        }
        guard let nested = state.nested else { return }
        try nestedAbsmax?.require(
            types: ["F32"], shape: [(blocks + nested.blockSize - 1) / nested.blockSize])
        try nestedMap?.require(types: ["F32"], shape: [256])
    }

    /// Gives `body` the scale of each block.
    func withScales(_ state: CodebookState, _ body: ((Int) -> Float) -> Void) {
        absmax.withAddress { absmax in
            guard let nested = state.nested, let nestedAbsmax, let nestedMap else {
                return body { SingleArithmetic.load(absmax, at: $0) }
            }
            nestedAbsmax.withAddress { outer in
                nestedMap.withAddress { values in
                    body { block in
                        let code = absmax.load(fromByteOffset: block, as: UInt8.self)
                        let value = SingleArithmetic.load(values, at: Int(code))
                        let product =
                            value * SingleArithmetic.load(outer, at: block / nested.blockSize)
                        return product + nested.offset
                    }
                }
            }
        }
    }
}
