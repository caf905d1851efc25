import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// `generate --schema` and `--regex` with a model of random weights, which would say anything.
@Suite("answers of a given form", .ownThreads)
struct GrammarAnswerTests {
    private static let schema = #"""
        {"type":"object","properties":{"kind":{"enum":["goose","duck"]},
        "count":{"type":"integer","minimum":1,"maximum":12},"tags":{"type":"array",
        "items":{"type":"string","maxLength":4},"maxItems":3}},"required":["kind","count"]}
        """#

    private func ask(_ bench: Workbench, _ words: [String]) throws -> SkeinProcess.Ending {
        try SkeinProcess.run(["generate", "--model", bench.model, "--prompt", "goose"] + words)
    }

    @Test("an answer is a value of the schema, whatever the temperature and the threads")
    func schema() throws {
        try Workbench.with { bench in
            let path = bench.path("schema.json")
            try Self.schema.write(toFile: path, atomically: true, encoding: .utf8)
            for temperature in ["0", "1", "30"] {
                var answers: Set<String> = []
                for threads in ["1", "2"] {
                    let ending = try ask(
                        bench,
                        [
                            "--schema", path, "--temperature", temperature, "--max-tokens", "60",
                            "--threads", threads, "--json",
                        ])
                    #expect(ending.status == 0, "\(ending.error)")
                    let answer = try Workbench.object(ending.output)
                    let text = try #require(answer["text"] as? String)
                    answers.insert(text)
                    let value = try Workbench.object(text)
                    #expect(["goose", "duck"].contains(value["kind"] as? String))
                    let count = try #require(value["count"] as? Int)
                    #expect((1...12).contains(count))
                    #expect(Set(value.keys).isSubset(of: ["kind", "count", "tags"]))
                    let tokens = try #require(answer["tokens"] as? [Int])
                    #expect(tokens.count <= 60)
                    #expect(["stop", "length"].contains(answer["finish_reason"] as? String))
                }
                #expect(answers.count == 1)
            }
        }
    }

    @Test("a value that the limit closes early is complete, and says so")
    func closedEarly() throws {
        try Workbench.with { bench in
            let path = bench.path("schema.json")
            try #"{"type":"string","minLength":2}"#.write(
                toFile: path, atomically: true, encoding: .utf8)
            // Random weights hardly ever end a string by themselves.
            let ending = try ask(
                bench, ["--schema", path, "--temperature", "1", "--max-tokens", "6", "--json"])
            let answer = try Workbench.object(ending.output)
            #expect(answer["finish_reason"] as? String == "length")
            let text = try #require(answer["text"] as? String)
            #expect(text.count >= 4 && text.hasPrefix("\"") && text.hasSuffix("\""), "\(text)")
            let plain = try ask(
                bench, ["--schema", path, "--temperature", "1", "--max-tokens", "6"])
            #expect(plain.output == text + "\n")
            #expect(plain.error.contains("closed early"), "\(plain.error)")
        }
    }

    @Test("an answer matches the regular expression as a whole")
    func regex() throws {
        try Workbench.with { bench in
            for seed in ["1", "2", "3"] {
                let ending = try ask(
                    bench,
                    [
                        "--regex", #"[a-c]{3}(-\d\d?)?"#, "--temperature", "2", "--seed", seed,
                    ])
                #expect(ending.status == 0, "\(ending.error)")
                #expect(
                    ending.output.wholeMatch(of: /[a-c]{3}(-[0-9]{1,2})?\n/) != nil,
                    "\(ending.output)")
            }
        }
    }

    @Test("what cannot be enforced is refused with its place, before anything is computed")
    func refuses() throws {
        try Workbench.with { bench in
            let path = bench.path("schema.json")
            func write(_ text: String) throws {
                try text.write(toFile: path, atomically: true, encoding: .utf8)
            }
            try write(#"{"properties":{"a":{"uniqueItems":true}}}"#)
            Complaint(65, path, "#/properties/a/uniqueItems").check(
                try ask(bench, ["--schema", path]))
            try write("{")
            Complaint(65, path, "byte 1").check(try ask(bench, ["--schema", path]))
            try write(Self.schema)
            Complaint(65, "--max-tokens", "limit is 3").check(
                try ask(bench, ["--schema", path, "--max-tokens", "3"]))
            Complaint(65, "--regex", "byte 1", "look-ahead").check(
                try ask(bench, ["--regex", "a(?=b)"]))
            Complaint(64, "--schema", "--regex").check(
                try ask(bench, ["--schema", path, "--regex", "a"]))
            Complaint(74, bench.path("gone.json")).check(
                try ask(bench, ["--schema", bench.path("gone.json")]))
        }
    }
}
