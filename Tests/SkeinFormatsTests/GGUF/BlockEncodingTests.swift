import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinFormats

/// The fixtures and their maker are in Tests/Fixtures/quantize.
@Suite struct BlockEncodingTests {
    @Test(
        "plain and simple types are gguf-py's bytes",
        arguments: [ElementType.f16, .bf16, .q8x0, .q4x0, .q5x0])
    func goldens(type: ElementType) throws {
        let expected = try Self.bytes("\(type.name).blocks")
        let found = Self.encoded(try Self.rows(), type)
        #expect(found.count == expected.count)
        let wrong = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }
        #expect(wrong == nil, "first difference in block \((wrong?.offset ?? 0) / type.blockBytes)")
    }

    @Test(
        "scales that are searched for are no worse than llama.cpp's",
        arguments: [ElementType.q4K, .q6K])
    func searched(type: ElementType) throws {
        let errors = try JSONDecoder().decode(
            [String: [Double]].self, from: Data(Self.bytes("errors.json")))
        let theirs = try #require(errors[type.name])
        let rows = try Self.rows()
        for (index, error) in theirs.enumerated() {
            let row = Array(rows[index * 512..<(index + 1) * 512])
            let back = Self.decoded(Self.encoded(row, type), type)
            let ours = Self.relativeError(back, row)
            // The order of sums may decide between two guesses that are as good.
            #expect(ours <= error * 1.002 + 1e-9, "row \(index): \(ours), llama.cpp \(error)")
        }
    }

    @Test("what is read from blocks is written as it was", arguments: ElementType.written)
    func roundTrip(type: ElementType) throws {
        let rows = try Self.rows()
        let once = Self.decoded(Self.encoded(rows, type), type)
        #expect(Self.relativeError(once, rows) < (type.blockElements == 1 ? 5e-3 : 0.12))
        // A row of numbers that a type has exactly stays, but for searched scales.
        guard ![.q4K, .q6K].contains(type) else { return }
        let twice = Self.decoded(Self.encoded(once, type), type)
        #expect(Self.relativeError(twice, once) < 2e-3)
    }

    @Test("F16 is rounded as Float16 is, subnormal numbers and infinity included")
    func halves() {
        var numbers: [Float] = [0, -0.0, 65_504, 65_519, 65_520, 1e6, -1e9, 5.9e-8, 2.9e-8, 3e-8]
        var bits: UInt32 = 0x3000_0000
        while bits < 0x4790_0000 {
            numbers.append(Float(bitPattern: bits))
            bits += 7919 * 11
        }
        while numbers.count % 4 != 1 { numbers.append(0.1) }
        let found = Self.encoded(numbers, .f16)
        let expected = numbers.flatMap { number in
            withUnsafeBytes(of: Float16(number).bitPattern) { Array($0) }
        }
        #expect(found == expected)
    }

    @Test("rows that are no whole number of blocks fall back as in llama.cpp")
    func fallbacks() {
        #expect(ElementType.q4K.fitting(columns: 512) == .q4K)
        #expect(ElementType.q4K.fitting(columns: 576) == .q5x0)
        #expect(ElementType.q6K.fitting(columns: 576) == .q8x0)
        #expect(ElementType.q8x0.fitting(columns: 48) == .f16)
        #expect(ElementType.q4K.fitting(columns: 10) == .f16)
        #expect(ElementType.bf16.fitting(columns: 7) == .bf16)
    }

    private static func encoded(_ floats: [Float], _ type: ElementType) -> [UInt8] {
        let blocks = floats.count / type.blockElements
        // One byte further on, so that nothing relies on an aligned start.
        var out = [UInt8](repeating: 0xa5, count: blocks * type.blockBytes + 1)
        floats.withUnsafeBufferPointer { source in
            out.withUnsafeMutableBytes { out in
                guard let from = source.baseAddress, let into = out.baseAddress else { return }
                type.encode(from, blocks: blocks, into: into + 1)
            }
        }
        return Array(out.dropFirst())
    }

    private static func decoded(_ bytes: [UInt8], _ type: ElementType) -> [Float] {
        let blocks = bytes.count / type.blockBytes
        return [Float](unsafeUninitializedCapacity: blocks * type.blockElements) { out, count in
            bytes.withUnsafeBytes { source in
                guard let from = source.baseAddress, let into = out.baseAddress else { return }
                type.dequantize(from: from, blocks: blocks, into: into)
            }
            count = blocks * type.blockElements
        }
    }

    private static func relativeError(_ found: [Float], _ expected: [Float]) -> Double {
        var (difference, size) = (0.0, 1e-60)
        for (a, b) in zip(found, expected) {
            difference += (Double(a) - Double(b)) * (Double(a) - Double(b))
            size += Double(b) * Double(b)
        }
        return (difference / size).squareRoot()
    }

    private static func rows() throws -> [Float] {
        let bytes = try bytes("rows.floats")
        return stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Float.self) }
        }
    }

    private static func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: TestPaths.fixture("quantize/" + name))))
    }
}
