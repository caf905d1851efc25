import Foundation
import SkeinBasics
import SkeinJSON
import Testing

@testable import SkeinTraining

/// Compares the reader of lines that Skein writes with the decoder, which reads all others.
@Suite struct RecordCursorTests {
    private let entry = LedgerEntry(
        step: 200_000, microBatch: 3, worker: "wörker-1", attempt: 12, tokens: 512, lossTokens: 77,
        lossSum: 189.5023178, gradientDigest: String(repeating: "0a", count: 32),
        parametersDigest: String(repeating: "0b", count: 32),
        inputsDigest: String(repeating: "0c", count: 32))

    private let metrics = StepMetrics(
        step: 17, epoch: 2, loss: 2.461068, tokens: 731, lossTokens: 77, learningRate: 1e-05,
        gradientNorm: 0.0842, seconds: 1.9, tokensPerSecond: 384.7, workers: 2,
        figures: StepFigures(cpuSeconds: 0.25, sentBytes: 10, receivedBytes: 20, payloadBytes: 15))

    /// nil if the decoder refuses the line.
    private func decoded<Value: Decodable>(_ line: [UInt8]) -> Value? {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(line))
        } catch {
            return nil
        }
    }

    private func readEntry(_ line: [UInt8]) -> LedgerEntry? {
        line.withUnsafeBytes { LedgerEntry(line: $0) }
    }

    private func readMetrics(_ line: [UInt8]) -> StepMetrics? {
        line.withUnsafeBytes { StepMetrics(line: $0) }
    }

    @Test("lines that Skein writes are read without the decoder")
    func own() {
        #expect(readEntry(Array(entry.line.written.utf8)) == entry)
        var older = entry
        (older.parametersDigest, older.inputsDigest) = (nil, nil)
        #expect(readEntry(Array(older.line.written.utf8)) == older)
        older.stateDigest = String(repeating: "0d", count: 32)
        #expect(readEntry(Array(older.line.written.utf8)) == older)
        #expect(readMetrics(Array(metrics.line.written.utf8)) == metrics)
        var plain = metrics
        plain.coordinatorCPUSeconds = nil
        (plain.sentBytes, plain.receivedBytes, plain.payloadBytes) = (nil, nil, nil)
        #expect(readMetrics(Array(plain.line.written.utf8)) == plain)
    }

    @Test("whichever byte is changed, what is read is what the decoder reads")
    func damaged() {
        var accepted = 0
        func check<Value: Decodable & Equatable>(
            _ line: [UInt8], _ read: ([UInt8]) -> Value?
        ) {
            guard let value = read(line) else { return }
            accepted += 1
            #expect(decoded(line) == value, "\(String(decoding: line, as: UTF8.self))")
        }
        let values: [UInt8] = Array(0x00...0x7F) + [0x80, 0xC3, 0xE2, 0xFF]
        let lines = (Array(entry.line.written.utf8), Array(metrics.line.written.utf8))
        for index in lines.0.indices {
            for value in values {
                var line = lines.0
                line[index] = value
                check(line, readEntry)
            }
            check(Array(lines.0[..<index]), readEntry)
            check(Array(lines.0[..<index] + lines.0[(index + 1)...]), readEntry)
        }
        for index in lines.1.indices {
            for value in values {
                var line = lines.1
                line[index] = value
                check(line, readMetrics)
            }
            check(Array(lines.1[..<index]), readMetrics)
            check(Array(lines.1[..<index] + lines.1[(index + 1)...]), readMetrics)
        }
        // Changed digits, and changed letters in the texts.
        #expect(accepted > 5000)
    }

    @Test("a number is the Double that the decoder reads")
    func numbers() throws {
        let random = AddressedRandom(seed: 10, purpose: .benchmark)
        var texts = [
            "0", "-0", "0.0", "1e5", "1E+5", "1e-5", "-1.5e-3", "4.9e-324", "2.4e-324", "1e-400",
            "0e-400", "1.7976931348623157e308", "1e309", "01", "1.", ".5", "-", "1e", "+1", "0x10",
            "inf", "nan", "null", "1 ", "9007199254740993", "123456789012345678901234567890",
        ]
        for index in 0..<20_000 {
            let words = random.block(UInt32(index))
            let number = Double(bitPattern: UInt64(words.x) << 32 | UInt64(words.y))
            if number.isFinite { texts.append(JSONValue.decimal(number).written) }
        }
        var read = 0
        for text in texts {
            let line = entry.line.written.replacing("189.5023178", with: text)
            guard let found = readEntry(Array(line.utf8)) else { continue }
            read += 1
            let expected: LedgerEntry = try #require(decoded(Array(line.utf8)), "\(text)")
            #expect(found.lossSum.bitPattern == expected.lossSum.bitPattern, "\(text)")
        }
        #expect(read > 19_000)
        for text in ["01", "1.", ".5", "-", "1e", "+1", "0x10", "inf", "nan", "null", "1e309"] {
            let line = entry.line.written.replacing("189.5023178", with: text)
            #expect(readEntry(Array(line.utf8)) == nil)
        }
    }

    @Test("integers that no Int holds, or that only the decoder accepts, are left to the decoder")
    func integers() {
        let text = entry.line.written
        let others = [
            "-1", "99999999999999999999", "9223372036854775807", "007", "1.0", "1e1", "",
        ]
        for other in others {
            #expect(readEntry(Array(text.replacing(":200000,", with: ":\(other),").utf8)) == nil)
        }
        let largest = text.replacing(":200000,", with: ":999999999999999999,")
        #expect(readEntry(Array(largest.utf8))?.step == 999_999_999_999_999_999)
        #expect(readEntry(Array((text + " ").utf8)) == nil)
        #expect(readEntry(Array(text.replacing("w\u{F6}rker", with: "w\\u00f6rker").utf8)) == nil)
    }
}
