import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinText

@Suite struct ExpressionLimitsTests {
    private static let refusals: [(pattern: String, flaw: ExpressionFlaw)] = [
        ("(a)\\1", .construct("\\1", at: 3)),
        ("a\\K", .construct("\\K", at: 1)),
        ("\\p{Klingon}", .construct("\\p{Klingon}", at: 0)),
        ("(?x)a", .construct("(?x", at: 0)),
        ("*a", .construct("*", at: 0)),
        ("a{3,2}", .construct("{3,2}", at: 1)),
        ("a{1001}", .construct("{1001", at: 1)),
        ("[b-a]", .construct("b-a", at: 1)),
        ("[]a]", .construct("[]", at: 0)),
        ("(?i:ß)", .construct("ß", at: 4)),
        ("(?i:ss)", .construct("ss", at: 4)),
        ("\\xFF", .construct("\\xFF", at: 0)),
        ("\\x{110000}", .construct("\\x{110000", at: 0)),
        ("a\\", .construct("\\", at: 1)),
        ("(a", .unbalanced(at: 0)),
        ("a)", .unbalanced(at: 1)),
        ("[a", .unbalanced(at: 0)),
        ("(?#a", .unbalanced(at: 0)),
        ("(?<=a+)b", .construct("(?<", at: 0)),
        ("(?:(?:a?|a)+)*b", .tooSlow),
        ("(?:(?:\\s?|\\s)+)+$", .tooSlow),
        (
            // Each run asks what follows it.
            "(?:" + String(repeating: "a*", count: 15) + "(?:"
                + Array(repeating: "a", count: 200).joined(separator: "|") + ")?){20}",
            .tooLarge
        ),
        (
            (0..<120).map {
                let run = String(Unicode.Scalar(UInt32(0x4E00 + $0)).map(Character.init) ?? "a")
                return "\(run)+\(run)+\(run)+\\x01"
            }.joined(separator: "|"),
            .tooSlow
        ),
        (String(repeating: "(", count: 33), .tooDeep(limit: 32)),
        (String(repeating: "[", count: 33), .tooDeep(limit: 32)),
        (String(repeating: "(?i)", count: 33), .tooDeep(limit: 32)),
        (String(repeating: "a", count: 8193), .tooLong(scalars: 8193, limit: 8192)),
        ("(?:(?:ab){1000}){1000}", .tooLarge),
        ("(?:(?:(?:){1000}){1000}){1000}", .tooLarge),
        (
            String(
                String.UnicodeScalarView((0x4E00..<0x4F01).compactMap { Unicode.Scalar($0) })),
            .tooLarge
        ),
    ]

    @Test("what is not supported or would take too much is refused", arguments: refusals.indices)
    func refusal(_ index: Int) {
        let (pattern, flaw) = Self.refusals[index]
        #expect(throws: flaw) { try SkeinText.Expression(pattern) }
        let error = TokenizerError.unsupported(.expression(pattern, flaw), source: "t.json")
        #expect(!error.explanation.what.isEmpty)
    }

    @Test("every name of llama.cpp that is known has expressions that compile")
    func names() throws {
        for name in PreTokenSteps.namesInGGUF {
            #expect(try PreTokenSteps(gguf: name)?.steps.isEmpty == false, "\(name)")
            #expect(PreTokenizer(gguf: name) == nil)
        }
        #expect(Set(PreTokenSteps.namesInGGUF).count == PreTokenSteps.namesInGGUF.count)
    }

    @Test("broken UTF-8 is cut byte by byte, and every byte is in one piece")
    func brokenText() throws {
        let expression = try SkeinText.Expression(#"\p{L}+|\p{So}|\s*.$"#)
        for bytes: [UInt8] in [
            [0x80], [0x61, 0xC3], [0xED, 0xA0, 0x80, 0x61], [0xF0, 0x9F, 0x98],
        ] {
            var ends = [0]
            bytes.withUnsafeBufferPointer {
                let isComplete = expression.forEachStretch(of: $0) { stretch, _ in
                    #expect(stretch.lowerBound == ends.last)
                    ends.append(stretch.upperBound)
                }
                #expect(isComplete)
            }
            #expect(ends.last == bytes.count)
        }
    }

    @Test("a damaged expression compiles or is refused, and matches within its text")
    func mutations() throws {
        let parts = [
            #"(?i:'s|'t|'re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}]++[\r\n]*|\s+(?!\S)"#,
            #"(?<=[a-z])(?=[A-Z])|(?>a+|b)*?c{2,}|[\w&&[^\d]]+\b|^\R|(?#x)\x{1F600}$"#,
            #"(?m:.)\A(?:\s|[[:alpha:]-z])*+|(?<!\p{^Lu}ab)\u4e16{,3}\Z|\h\N\O\B"#,
        ]
        let alphabet = Array("()[]{}?*+|\\^$.,-:&<>=!#iPpswdbx019aZ ß世".unicodeScalars)
        var refused = 0
        for seed in Damage.seeds(300) {
            var numbers = SeededNumbers(state: seed)
            var scalars = Array(parts[Int(seed % 3)].unicodeScalars)
            for _ in 0...Int.random(in: 0..<5, using: &numbers) {
                let place = Int.random(in: 0..<scalars.count, using: &numbers)
                let other = alphabet[Int.random(in: 0..<alphabet.count, using: &numbers)]
                switch Int.random(in: 0..<4, using: &numbers) {
                case 0: scalars[place] = other
                case 1: scalars.insert(other, at: place)
                case 2: scalars.remove(at: place)
                default: scalars += scalars[place...].prefix(12)
                }
            }
            var pattern = String.UnicodeScalarView()
            pattern.append(contentsOf: scalars)
            do throws(ExpressionFlaw) {
                try check(SkeinText.Expression(String(pattern)))
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    private func check(_ expression: SkeinText.Expression) {
        var text = "I've aaB 12345  x\r\n世界😀 ab_c\u{301}\u{0}  \n"
        text.withUTF8 { bytes in
            var end = 0
            let isComplete = expression.forEachStretch(of: bytes) { stretch, _ in
                #expect(stretch.lowerBound == end)
                end = stretch.upperBound
            }
            #expect(isComplete)
            #expect(end == bytes.count)
        }
    }
}
