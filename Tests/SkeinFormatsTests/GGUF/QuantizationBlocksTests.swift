import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct QuantizationBlocksTests {
    @Test("every type gives gguf-py's floats, bit for bit", arguments: ElementType.allCases)
    func goldens(type: ElementType) throws {
        let blocks = try bytes("formats/\(type.name).blocks")
        let expected = try bytes("formats/\(type.name).floats")
        let count = blocks.count / type.blockBytes
        #expect(count >= 3 && blocks.count % type.blockBytes == 0)
        // One byte further on, so that nothing relies on an aligned start.
        let shifted = [0] + blocks
        var floats = [Float](repeating: .nan, count: count * type.blockElements)
        shifted.withUnsafeBytes { source in
            floats.withUnsafeMutableBufferPointer { out in
                guard let from = source.baseAddress, let into = out.baseAddress else { return }
                QuantizationBlocks.dequantize(type, from: from + 1, blocks: count, into: into)
            }
        }
        let found = floats.withUnsafeBytes { Array($0) }
        #expect(found.count == expected.count)
        let wrong = stride(from: 0, to: found.count, by: 4).first {
            found[$0..<($0 + 4)] != expected[$0..<($0 + 4)]
        }
        #expect(wrong == nil, "first difference at element \((wrong ?? 0) / 4)")
    }

    @Test(
        "what is rewritten as Q8_0 has the same numbers in it, bit for bit",
        arguments: ElementType.allCases.filter { $0.codeRows == .q8x0 })
    func eightBits(type: ElementType) throws {
        let blocks = try bytes("formats/\(type.name).blocks")
        let count = blocks.count / type.blockBytes
        let shifted = [0] + blocks
        var codes = [UInt8](repeating: 0xff, count: count * ElementType.q8x0.blockBytes)
        var expected = [Float](repeating: .nan, count: count * type.blockElements)
        var found = expected
        shifted.withUnsafeBytes { source in
            codes.withUnsafeMutableBytes { codes in
                guard let from = source.baseAddress, let into = codes.baseAddress else { return }
                type.rewrite(from: from + 1, blocks: count, into: into)
                type.dequantize(from: from + 1, blocks: count, into: &expected)
                ElementType.q8x0.dequantize(from: into, blocks: count, into: &found)
            }
        }
        #expect(found.map(\.bitPattern) == expected.map(\.bitPattern))
    }

    @Test("every f16 converts as the hardware does")
    func allHalves() {
        let wrong = (UInt16.min...UInt16.max).first { bits in
            let expected = Float(Float16(bitPattern: bits))
            let found = withUnsafeBytes(of: bits) { bytes in
                bytes.baseAddress.map { QuantizationBlocks.half(at: $0) } ?? 0
            }
            return found.bitPattern != expected.bitPattern && !(found.isNaN && expected.isNaN)
        }
        #expect(wrong == nil)
    }

    @Test("four f16 at once convert as one does")
    func vectorOfHalves() {
        let bits = Array(UInt16.min...UInt16.max)
        var floats = [Float](repeating: 0, count: bits.count)
        bits.withUnsafeBytes { source in
            floats.withUnsafeMutableBufferPointer { out in
                guard let from = source.baseAddress, let into = out.baseAddress else { return }
                QuantizationBlocks.dequantize(.f16, from: from, blocks: bits.count, into: into)
            }
        }
        let wrong = bits.indices.first { index in
            let expected = Float(Float16(bitPattern: bits[index]))
            return floats[index].bitPattern != expected.bitPattern && !expected.isNaN
        }
        #expect(wrong == nil)
        #expect(floats[0x7c01].isNaN && floats[0x7c00] == .infinity)
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: TestPaths.fixture(name))))
    }
}
