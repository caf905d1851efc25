import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinText

/// How `tokenizers` cuts generated texts, made by make_expressions.py.
private struct Cuts: Decodable {
    struct Case: Decodable {
        let stages: [TokenizerFile.Stage]
        /// For each text, where its pieces begin and end, in bytes.
        let cuts: [[Int]]
    }

    let texts: [String]
    let cases: [String: Case]
}

@Suite struct ExpressionTests {
    /// SKEIN_TEST_EXPRESSIONS: a larger file of the same kind.
    @Test("cuts texts as the library does, with the expressions of models and with others")
    func cuts() throws {
        let path =
            ProcessInfo.processInfo.environment["SKEIN_TEST_EXPRESSIONS"]
            ?? Fixtures.path("expressions")
        let goldens = try JSONDecoder().decode(
            Cuts.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(goldens.cases.count > 100)
        for (name, test) in goldens.cases.sorted(by: { $0.key < $1.key }) {
            guard let steps = try Self.steps(test.stages, name) else { continue }
            var wrong = 0
            for (text, cuts) in zip(goldens.texts, test.cuts) {
                let found = Self.cuts(of: text, by: steps)
                if found != cuts {
                    wrong += 1
                    if wrong == 1 {
                        Issue.record("\(name): \(text.debugDescription): \(found), not \(cuts)")
                    }
                }
            }
            #expect(wrong == 0, "\(name)")
        }
    }

    /// Measured with tokenizers 0.23.3, each with every code point behind it.
    @Test("a contraction in any case has the long s, too, by the expression and by the scanners")
    func foldedContractions() throws {
        let pattern = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
        let expression = PreTokenSteps(
            steps: [
                PreTokenStep(
                    try SkeinText.Expression(pattern), name: "r" + pattern, .removed,
                    isInverted: true)
            ])
        let scanners = [PreTokenizer.llama3, .qwen2].map {
            PreTokenSteps(steps: [PreTokenStep(known: $0)])
        }
        for (prefix, expected) in [
            ("'", "DMSTdmst\u{17F}"), ("'r", "Ee"), ("'V", "Ee"), ("'l", "Ll"), ("'k", ""),
        ] {
            var found = String.UnicodeScalarView()
            for scalar in (0...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
                let text = prefix + String(scalar)
                let size = text.utf8.count
                guard Self.cuts(of: text, by: expression) == [0, size] else { continue }
                found.append(scalar)
                for scanner in scanners {
                    let cuts = Self.cuts(of: text + "x", by: scanner)
                    #expect(cuts == [0, size, size, size + 1], "\(text)")
                }
            }
            #expect(String(found) == expected, "\(prefix)")
        }
        for (pattern, more) in [("(?i:s)", [0x17F]), ("(?i:[j-l])", [0x212A]), ("(?i:f)", [])] {
            let expression = try SkeinText.Expression(pattern)
            for scalar in (0x80...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
                var text = String(scalar)
                var matches = false
                let isComplete = text.withUTF8 {
                    expression.forEachStretch(of: $0) { matches = $1 }
                }
                #expect(isComplete)
                if matches != more.contains(Int(scalar.value)) {
                    Issue.record("\(pattern) and U+\(String(scalar.value, radix: 16))")
                }
            }
        }
    }

    @Test("a damaged list of stages is read or refused, and nothing else")
    func mutations() throws {
        let whole = Array(
            #"""
            {"type":"Sequence","pretokenizers":[{"type":"Punctuation","behavior":"Contiguous"},
            {"type":"Split","pattern":{"Regex":"\\p{N}{1,3}"},"behavior":"Isolated","invert":false},
            {"type":"Split","pattern":{"String":" a"},"behavior":"MergedWithNext","invert":true},
            {"type":"CharDelimiterSplit","delimiter":"x"},{"type":"BertPreTokenizer"},
            {"type":"ByteLevel","add_prefix_space":true,"use_regex":true},
            {"type":"Digits","individual_digits":false},{"type":"Whitespace"}]}
            """#.utf8)
        var refused = 0
        for seed in Damage.seeds(200) {
            var numbers = SeededNumbers(state: seed)
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                bytes[place] =
                    seed % 2 == 0
                    ? UInt8.random(in: 0x20...0x7E, using: &numbers)
                    : bytes[Int.random(in: 0..<bytes.count, using: &numbers)]
            }
            do throws(TokenizerError) {
                let stage = try TokenizerJSON.decode(
                    TokenizerFile.Stage.self, from: bytes, source: "seed \(seed)")
                let steps = try PreTokenSteps(stage.steps, source: "seed \(seed)")
                // The first byte of a text may get a space before it, so pieces may lie elsewhere.
                #expect(Self.size(of: "I've 12 x a2b\r\n世界!? ", by: steps) < 200)
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    private static func size(of text: String, by steps: PreTokenSteps) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            CharacterClasses.shared.withReader { classes in
                var size = 0
                let unfinished = steps.forEachPiece(
                    of: UTF8Reader(bytes: bytes, classes: classes)
                ) { size += $0.count }
                #expect(unfinished == nil)
                return size
            }
        }
    }

    /// The steps; nil: a random expression that takes too long.
    private static func steps(
        _ stages: [TokenizerFile.Stage], _ name: String
    ) throws(TokenizerError) -> PreTokenSteps? {
        do throws(TokenizerError) {
            return try PreTokenSteps(stages, source: name)
        } catch {
            if case .unsupported(.expression(_, .tooSlow), _) = error, name.hasPrefix("random") {
                return nil
            }
            throw error
        }
    }

    /// Where the pieces of a text begin and end.
    private static func cuts(of text: String, by steps: PreTokenSteps) -> [Int] {
        var text = text
        return text.withUTF8 { bytes in
            CharacterClasses.shared.withReader { classes in
                var cuts: [Int] = []
                let unfinished = steps.forEachPiece(
                    of: UTF8Reader(bytes: bytes, classes: classes)
                ) { piece in
                    guard let base = bytes.baseAddress, let start = piece.baseAddress else {
                        return
                    }
                    cuts += [start - base, start - base + piece.count]
                }
                #expect(unfinished == nil)
                return cuts
            }
        }
    }
}
