import Testing

@testable import SkeinSessions

@Suite("Prompts and instructions")
struct PromptTests {
    @Test("each component is a line")
    func lines() {
        let topics = ["one", "two"]
        func prompt(_ isLong: Bool) -> Prompt {
            Prompt {
                "First"
                if isLong { "Long" }
                if isLong { "yes" } else { "no" }
                for topic in topics { "- \(topic)" }
                ""
                topics
                switch topics.count {
                case 2: "a pair"
                default: "\(topics.count) topics"
                }
            }
        }
        #expect(
            prompt(false).text == "First\nno\n- one\n- two\n\none\ntwo\na pair")
        #expect(
            prompt(true).text == "First\nLong\nyes\n- one\n- two\n\none\ntwo\na pair")
        #expect(Prompt {}.text == "")
    }

    @Test("a generable value is its JSON text, a text is itself, nil is nothing")
    func values() {
        let none: Review? = nil
        let prompt = Prompt {
            "Like this:"
            Review(rating: 4, summary: "Good")
            [Mood.good, .bad]
            3
            none
            Prompt("inner")
            GeneratedContent(properties: ["a": 1])
        }
        #expect(
            prompt.text == """
                Like this:
                {"rating":4,"summary":"Good"}
                "good"
                "bad"
                3
                inner
                {"a":1}
                """)
        #expect(Prompt("a\nb").text == "a\nb")
        #expect(Prompt(Review(rating: 1, summary: "")).text == #"{"rating":1,"summary":""}"#)
        #expect("\(Prompt("a"))" == "a")
    }

    @Test("instructions are built alike")
    func instructions() {
        let isStrict = true
        let instructions = Instructions {
            "You are a guide."
            if isStrict { "ALWAYS answer shortly." }
            ["a", "b"]
            if #available(macOS 15, *) { "new" }
        }
        #expect(instructions.text == "You are a guide.\nALWAYS answer shortly.\na\nb\nnew")
        #expect(Instructions("a").text == "a")
        #expect(Instructions(Review(rating: 1, summary: "")).text.hasPrefix("{"))
    }

    @Test("what a builder throws comes out")
    func failing() {
        struct Failure: Error {}
        func fail() throws -> String { throw Failure() }
        #expect(throws: Failure.self, performing: { try Prompt { try fail() } })
        #expect(throws: Failure.self, performing: { try Instructions { try fail() } })
    }
}
