import SkeinFormats
import SkeinGrammar
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinInference

@Suite("Calls written at random")
struct RandomCallTests {
    /// Text that a model is made to write now and then, cut into random tokens.
    private static func corpus(_ format: ToolFormat) -> String {
        """
        Let me see.\n\(format.marker)\(format.afterMarker){"name": "get_weather", \
        "\(format.argumentsKey)": {"place": "Oslo", "days": 3}}\(format.callEnd)\
        \(format.callNext ?? "")\(format.listEnd){"name":"plant-tree_2","\(format.argumentsKey)":\
        {"root":{"v":"\\\\","kids":[]}}} é日本 <tool_ca ll>
        """
    }

    private static let choices: [ToolChoice] = [
        .auto, .auto, .required, .named("get"), .named("plant-tree_2"),
    ]

    @Test("nothing malformed is written at any limit", arguments: 0..<60)
    func everyLimit(_ seed: Int) throws {
        var random = TestRandom(state: UInt64(seed))
        let tools = try TestTools.all
        var calls = 0
        for (name, format) in ToolFormat.tested {
            let words = TestTokenizer.merged(
                from: Self.corpus(format), count: Int.random(in: 0...120, using: &random),
                using: &random)
            let isAdded = Bool.random(using: &random)
            let isSpecial = Bool.random(using: &random)
            let vocabulary = try TestTokenizer(
                words: words.filter { $0 != Array(format.marker.utf8) },
                added: isAdded ? [(format.marker, isSpecial)] : [])
            for limit in [0, 1, 4, 8, 13, 20, 31, 45, 60, 90, 140, 300] {
                for choice in Self.choices {
                    let parallel = Bool.random(using: &random)
                    let run = RandomRun(
                        vocabulary, format, tools, choice, parallel: parallel, limit: limit,
                        place: "seed \(seed), \(name), \(choice), limit \(limit)")
                    calls += try run.check(Self.corpus(format), using: &random)
                }
            }
        }
        // By far most runs must call, or nothing was tested.
        #expect(calls > 60, "seed \(seed)")
    }

    @Test(
        "nothing malformed is written with the fetched model's tokens",
        .enabled(if: TestPaths.model != nil, "needs SKEIN_TEST_MODEL"), arguments: 0..<4)
    func fetchedModel(_ seed: Int) throws {
        let path = try #require(TestPaths.model)
        let tokenizer = try Tokenizer(ggufMetadata: GGUFFile(path: path).metadata)
        try Self.check(TestTokenizer(tokenizer), seed: seed)
    }

    private static let fixtures = [
        "gpt2", "llama3", "qwen2", "tekken", "o200k", "pieces_llama", "pieces_gemma",
    ]

    @Test("nothing malformed is written with any kind of tokenizer", arguments: fixtures)
    func kinds(_ name: String) throws {
        try Self.check(try TestTokenizer(fixture: name), seed: 7)
    }

    @Test("the same picks give the same answer, whatever was written before", arguments: 0..<8)
    func sameAgain(_ seed: Int) throws {
        let tools = try TestTools.all
        for (name, format) in ToolFormat.tested {
            var random = TestRandom(state: UInt64(seed) &+ 2000)
            let words = TestTokenizer.merged(
                from: Self.corpus(format), count: 40, using: &random)
            let warm = try TestTokenizer(words: words)
            let picks = random
            var answers: [[ToolEvent]] = []
            for vocabulary in [warm, warm, try TestTokenizer(words: words)] {
                var random = picks
                let run = RandomRun(
                    vocabulary, format, tools, .auto, parallel: true, limit: 150,
                    place: "seed \(seed), \(name)")
                answers.append(try run.events(Self.corpus(format), using: &random))
            }
            #expect(answers[1] == answers[0] && answers[2] == answers[0], "seed \(seed), \(name)")
        }
    }

    @Test("a model that cannot write a brace writes text alone")
    func noBraces() throws {
        let vocabulary = try TestTokenizer(fixture: "smollm")
        var random = TestRandom(state: 3)
        for choice in Self.choices {
            let run = RandomRun(
                vocabulary, .llama, try TestTools.all, choice, parallel: true, limit: 50,
                place: "\(choice)")
            #expect(try run.check(Self.corpus(.llama), using: &random) == 0)
        }
    }

    private static func check(_ vocabulary: TestTokenizer, seed: Int) throws {
        let tools = try TestTools.all
        var random = TestRandom(state: UInt64(seed) &+ 1000)
        var calls = 0
        for (name, format) in ToolFormat.tested {
            for limit in [8, 16, 24, 40, 100, 200] {
                for choice in Self.choices {
                    let run = RandomRun(
                        vocabulary, format, tools, choice, parallel: true, limit: limit,
                        place: "seed \(seed), \(name), \(choice), limit \(limit)")
                    calls += try run.check(Self.corpus(format), using: &random)
                }
            }
        }
        #expect(calls > 10, "seed \(seed)")
    }
}
