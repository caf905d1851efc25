import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport

/// Damaged lines of data: each is a row or a problem, and never stops the process.
@Suite struct RowMutationTests {
    private static let count = Damage.count(2000)
    private static let seed = Damage.seed

    private static let lines = [
        #"{"prompt": "p", "completion": "c"}"#,
        #"{"prompt": [{"role": "user", "content": "u"}], "completion": [{"role": "assistant", "#
            + #""content": "a", "weight": 1}], "tools": "[{\"name\": \"f\"}]"}"#,
        #"{"messages": [{"role": "user", "content": [{"type": "text", "text": "u"}]}, {"role": "#
            + #""assistant", "content": null, "train": true, "tool_calls": [{"id": 1}]}], "tools": [{}]}"#,
        #"{"conversations": [{"from": "human", "value": "u"}, {"from": "function_call", "value": "#
            + #""{\"name\": \"f\", \"arguments\": {}}"}], "system": "s"}"#,
        #"{"instruction": "i", "input": "j", "output": "o", "history": [["q", "a"]], "system": "s"}"#,
        #"{"text": "t\u00e9 \ud83e\udd99"}"#,
    ].map { Array($0.utf8) }

    private static let words = [
        "null", "0", "-1", "1e999", "true", "[]", "{}", "\"\"", "[[]]", "{\"a\":1}", ",", "\"", "}",
        "]", "\\u", "\\ud83e", "\u{0}", "prompt", "messages", "content", "weight", "tool_calls",
        "\"tools\":", "9223372036854775808",
    ]

    @Test("a damaged line is a row or a problem, and a row can be encoded or is refused")
    func mutations() throws {
        let random = AddressedRandom(seed: Self.seed, purpose: .benchmark)
        let encoder = try RowEncoder(
            encoder: ToyTokenizer.encoder(), format: .chat, trainedTurns: .all, maximumLength: 64)
        var (rows, problems) = (0, 0)
        for index in 0..<Self.count {
            let words = random.block(UInt32(index))
            var line = Self.lines[Int(words[0]) % Self.lines.count]
            for change in 0..<Int(words[1] % 3) {
                let draw = random.block(UInt32(index), UInt32(change + 1))
                let start = Int(draw[0]) % (line.count + 1)
                let length = min(Int(draw[1] % 12), line.count - start)
                switch draw[2] % 4 {
                case 0: line.removeSubrange(start..<(start + length))
                case 1: line.insert(contentsOf: line[start..<(start + length)], at: start)
                case 2: line.insert(UInt8(draw[3] % 256), at: start)
                default:
                    let word = Self.words[Int(draw[3]) % Self.words.count]
                    line.replaceSubrange(start..<(start + length), with: word.utf8)
                }
            }
            do {
                let row = try line.withUnsafeBytes { bytes throws(LineProblem) in
                    try PairRow(line: bytes)
                }
                rows += 1
                #expect(try !encoder.drafts(row).isEmpty)
            } catch is LineProblem {
                problems += 1
            }
        }
        #expect(rows > Self.count / 20 && problems > Self.count / 20, "\(rows), \(problems)")
    }
}
