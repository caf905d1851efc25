import Foundation
import SkeinJSON
import SkeinTestSupport
import Testing

@Suite("The readers that stood before read what the new one reads")
struct JSONTwinsTests {
    @Test("random texts, damaged ones, and beginnings of them")
    func random() {
        for seed in Damage.seeds(1200) {
            var random = TestRandom(state: seed)
            let text = Array(RandomJSON.text(using: &random).utf8)
            JSONTwins.check(text)
            JSONTwins.check(Array(text.prefix(Int.random(in: 0...text.count, using: &random))))
            let damaged = RandomJSON.damaged(using: &random)
            JSONTwins.check(damaged)
            JSONTwins.check(
                Array(damaged.prefix(Int.random(in: 0...damaged.count, using: &random))))
        }
    }

    @Test("what random texts do not have")
    func rare() {
        let texts = [
            "", "\u{FEFF}1", "NaN", "[NaN,-Infinity,Infinity]", "{\"a\":NaN,\"b\":[1,Infinity]}",
            "[-Infinite]", "{\"a\":1,\"a\":{\"b\":2,\"b\":[]}}", "{\"a\":1,\"\\u0061\":\"x",
            "{\"caf\u{E9}\":1,\"x\":2}", "[1e999]", "\"\\ud800\"", "[\"\\udc00\\ud800\"]",
            "{\"model\":{\"vocab\":{\"a\":1,\"K\":2.0,\"\u{212A}\":3e0,\"a\":4}},\"model\":1}",
            "{\"model\":{\"x\":[{\"vocab\":1}],\"vocab\":{}}}",
            "{\"model\":{\"vocab\":{\"a\":1.5}}}",
            "{ \"model\" : { \"vocab\" : { \"\\ud83d\\ude00\\n\" : 7 } } }", "[[[[[[[[[[",
            String(repeating: "[", count: 300), String(repeating: "[", count: 600),
            String(repeating: "{\"a\":", count: 300), "[[[[[[[[[]]]]]]]]]", "[[[[[[[[0]]]]]]]]",
            "[" + String(repeating: "1", count: 401) + "]", "[01]", "[1.]", "[.5]", "[+1]", "[1e]",
        ]
        for text in texts { JSONTwins.check(Array(text.utf8)) }
    }

    @Test("the JSON of other tests, whole and damaged")
    func fixtures() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures").path
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        var texts: [[UInt8]] = []
        for case let file as String in files
        where file.hasSuffix(".json") || file.hasSuffix(".jsonl") {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file)))
            let parts = file.hasSuffix(".json") ? [bytes[...]] : bytes.split(separator: 0x0A)
            texts += parts.filter { $0.count <= 1 << 16 }.prefix(20).map { Array($0) }
        }
        #expect(texts.count > 50)
        for (number, text) in texts.enumerated() {
            JSONTwins.check(text)
            for round in 0..<Damage.count(2) where text.count < 1 << 13 {
                var damage = Damage(number: number << 8 | round)
                var text = text
                damage.change(&text, within: text.indices)
                JSONTwins.check(text)
            }
        }
    }
}
