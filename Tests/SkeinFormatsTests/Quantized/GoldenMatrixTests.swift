import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

/// Composite matrices against the numbers of the programs that define them.
@Suite struct GoldenMatrixTests {
    @Test("affine weights of all widths, groups and types are mlx's, bit for bit")
    func affine() throws {
        let file = try SafetensorsFile(path: TestPaths.fixture("quantized/affine.safetensors"))
        let names = file.stored.keys.filter { $0.hasSuffix(".scales") }
        #expect(names.count == 54)
        for name in names {
            let parts = name.split(separator: ".")
            let settings = AffineMatrix.Settings(
                bits: try #require(Int(parts[1])), groupSize: try #require(Int(parts[2])))
            let stem = name.dropLast("scales".count)
            func part(_ ending: String) throws -> StoredTensor {
                try #require(file.stored[stem + ending])
            }
            let matrix = try AffineMatrix(
                settings, codes: part("weight"), scales: part("scales"), biases: part("biases"))
            try check(matrix, String(stem), file)
        }
    }

    @Test("NF4 and FP4 weights are bitsandbytes', bit for bit, nested or not")
    func codebook() throws {
        let file = try SafetensorsFile(path: TestPaths.fixture("quantized/codebook.safetensors"))
        var count = 0
        for table in [CodebookMatrix.Table.nf4, .fp4] {
            let ending = ".quant_state.bitsandbytes__\(table.rawValue)"
            for name in file.stored.keys.filter({ $0.hasSuffix(ending) }) {
                let weight = String(name.dropLast(ending.count))
                let state = try CodebookState(try #require(file.stored[name]), table)
                let parts = CodebookParts(
                    absmax: try #require(file.stored[weight + ".absmax"]),
                    map: try #require(file.stored[weight + ".quant_map"]),
                    nestedAbsmax: file.stored[weight + ".nested_absmax"],
                    nestedMap: file.stored[weight + ".nested_quant_map"])
                #expect((state.nested != nil) == weight.contains("nested"))
                let matrix = try CodebookMatrix(
                    state, codes: try #require(file.stored[weight]), parts: parts)
                try check(matrix, weight + ".", file)
                count += 1
            }
        }
        #expect(count == 48)
    }

    @Test("8-bit floats are transformers', bit for bit, and all 256 codes")
    func float8() throws {
        let file = try SafetensorsFile(path: TestPaths.fixture("quantized/float8.safetensors"))
        for name in ["all", "f32", "bf16"] {
            let size = name == "all" ? (4, 32) : (32, 32)
            let matrix = try Float8Matrix(
                Float8Matrix.Settings(grid: .blocks(.init(rows: size.0, columns: size.1))),
                codes: try #require(file.stored[name + ".weight"]),
                scales: try #require(file.stored[name + ".weight_scale_inv"]))
            try check(matrix, name + ".", file)
        }
    }

    @Test("scales that are exponents, and compressed-tensors' are torch's, bit for bit")
    func scales() throws {
        let file = try SafetensorsFile(path: TestPaths.fixture("quantized/scales.safetensors"))
        let folders = try RawFolder.single("scales")
        #expect(folders.count == 11)
        for folder in folders {
            try TestPaths.withTemporaryDirectory { directory in
                try folder.write(to: directory)
                for (name, view) in try ModelFiles.open(directory).tensors {
                    let stem = String(name.dropLast("weight".count))
                    let expected = try #require(file.tensors[stem + "expected"])
                    #expect(view.shape == expected.shape)
                    #expect(view.exactType == expected.elementType, "\(stem)")
                    let same = zip(view.floats(), expected.floats()).allSatisfy { a, b in
                        a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
                    }
                    #expect(same, "\(stem)")
                }
            }
        }
    }

    @Test("exponents may be bytes where config.json says so, and nowhere else")
    func exponentBytes() throws {
        let file = try SafetensorsFile(path: TestPaths.fixture("quantized/scales.safetensors"))
        let codes = try #require(file.stored["exponents.weight"])
        let scales = try Self.stored("U8", [8, 32], (0...255).map { UInt8($0) })
        let grid = Float8Matrix.Grid.blocks(.init(rows: 2, columns: 2))
        let matrix = try Float8Matrix(
            .init(grid: grid, hasExponents: true), codes: codes, scales: scales)
        try check(matrix, "exponents.", file)
        #expect(throws: FormatError.self) {
            _ = try Float8Matrix(.init(grid: grid), codes: codes, scales: scales)
        }
    }

    @Test("one scale may serve a whole matrix, and the last blocks may be short")
    func blocks() throws {
        let file = try SafetensorsFile(path: TestPaths.fixture("quantized/float8.safetensors"))
        let codes = try #require(file.stored["f32.weight"])
        func part(_ type: String, _ shape: [Int], _ numbers: [Float]) throws -> StoredTensor {
            try Self.stored(type, shape, numbers.withUnsafeBytes { Array($0) })
        }
        let one = try Float8Matrix(.init(grid: .whole), codes: codes, scales: part("F32", [], [2]))
        let plain = Self.rows(one, 0..<64)
        let four = try Float8Matrix(
            .init(grid: .blocks(.init(rows: 50, columns: 70))), codes: codes,
            scales: part("F32", [2, 2], [2, 4, 8, 16]))
        let found = Self.rows(four, 0..<64)
        for row in 0..<64 {
            for column in 0..<96 {
                let factor: Float = (row < 50 ? 1 : 4) * (column < 70 ? 1 : 2)
                #expect(found[row * 96 + column] == plain[row * 96 + column] * factor)
            }
        }
        for (shape, type) in [([2, 1], "F32"), ([2, 2], "I32"), ([4], "F32")] {
            #expect(throws: FormatError.self) {
                let count = shape.reduce(1, *)
                _ = try Float8Matrix(
                    .init(grid: .blocks(.init(rows: 50, columns: 70))), codes: codes,
                    scales: part(type, shape, [Float](repeating: 1, count: count)))
            }
        }
    }

    @Test("rounding to bf16 and f16 is to the nearest, ties to even")
    func rounding() {
        var wrong = 0
        for index in 0..<200_000 as Range<UInt32> {
            // Every exponent, and fractions near a tie more often than by chance.
            let bits = index &* 2_654_435_761 & (index % 3 == 0 ? 0xffff_f000 : .max)
            let number = Float(bitPattern: bits)
            guard number.isFinite else { continue }
            let half = Float16Arithmetic.round(SIMD4(repeating: number))[1]
            if half.bitPattern != Float(Float16(number)).bitPattern { wrong += 1 }
            let brain = BFloat16Arithmetic.round(SIMD4(repeating: number))[2]
            // The nearest of the two neighbours, compared as exact numbers.
            let low = Float(bitPattern: bits & 0xffff_0000)
            let high = Float(bitPattern: (bits & 0xffff_0000) &+ 0x1_0000)
            let (down, up) = (
                abs(Double(number) - Double(low)),
                high.isFinite
                    ? abs(Double(high) - Double(number)) : 0x1p128 - abs(Double(number))
            )
            let isEven = bits >> 16 & 1 == 0
            let expected = down < up || down == up && isEven ? low : high
            if brain.bitPattern != expected.bitPattern { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test("rows of an odd length start and end within a byte")
    func oddRows() throws {
        let text = #"{"quant_type":"nf4","blocksize":32,"dtype":"float32","shape":[5,33]}"#
        let state = try CodebookState(
            Self.stored("U8", [text.utf8.count], Array(text.utf8)), .nf4)
        let codes = (0..<83).map { UInt8(truncatingIfNeeded: $0 * 53 + 7) }
        let scales = (0..<6).map { Float($0 + 1) }
        let matrix = try CodebookMatrix(
            state, codes: Self.stored("U8", [83, 1], codes),
            parts: CodebookParts(
                absmax: Self.stored("F32", [6], scales.withUnsafeBytes { Array($0) }),
                map: Self.stored(
                    "F32", [16], withUnsafeBytes(of: CodebookMatrix.Table.nf4.values) { Array($0) }),
                nestedAbsmax: nil, nestedMap: nil))
        let expected = (0..<165).map { element in
            let byte = codes[element / 2]
            let code = element % 2 == 0 ? byte >> 4 : byte & 15
            return CodebookMatrix.Table.nf4.values[Int(code)] * scales[element / 32]
        }
        for first in 0..<5 {
            for end in (first + 1)...5 {
                #expect(
                    Self.rows(matrix, first..<end) == Array(expected[(first * 33)..<(end * 33)]))
            }
        }
    }

    private static func stored(
        _ type: String, _ shape: [Int], _ bytes: [UInt8]
    ) throws -> StoredTensor {
        StoredTensor(
            name: "s", type: type, shape: shape, range: 0..<bytes.count,
            file: try MappedFile(path: "s", bytes: bytes))
    }

    static func rows(_ matrix: any CompositeMatrix, _ range: Range<Int>) -> [Float] {
        let count = range.count * matrix.shape[1]
        return [Float](unsafeUninitializedCapacity: count) { buffer, filled in
            if let out = buffer.baseAddress { matrix.dequantize(rows: range, into: out) }
            filled = count
        }
    }

    /// All rows, and each range of rows, against `<stem>expected`.
    private func check(
        _ matrix: any CompositeMatrix, _ stem: String, _ file: SafetensorsFile
    ) throws {
        let expected = try #require(file.tensors[stem + "expected"])
        #expect(matrix.shape == expected.shape)
        #expect(expected.elementType == matrix.exactType, "\(stem)")
        let bits = expected.floats().map(\.bitPattern)
        let (rows, columns) = (matrix.shape[0], matrix.shape[1])
        for first in 0...rows {
            for end in first...rows where (end - first) % 7 < 3 || end == rows {
                let found = Self.rows(matrix, first..<end).map(\.bitPattern)
                let golden = bits[(first * columns)..<(end * columns)]
                let same = zip(found, golden).allSatisfy { a, b in
                    a == b || Float(bitPattern: a).isNaN && Float(bitPattern: b).isNaN
                }
                #expect(same, "\(stem) rows \(first) ..< \(end)")
            }
        }
    }
}
