import SkeinBasics
import Testing

@testable import SkeinSessions

@Suite("Streams")
struct StreamTests {
    private func session(_ source: ScriptedSource) -> LanguageModelSession {
        LanguageModelSession(model: SystemLanguageModel(script: source))
    }

    @Test("Snapshots only grow, and the last one is what collect() and respond() give")
    func text() async throws {
        for seed in 0..<150 as Range<UInt64> {
            var random = SystemRandom(seed: seed)
            let words = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                ["a", "ü", "👩‍👩‍👧", "\n", "long word"].randomElement(using: &random) ?? ""
            }
            let text = words.joined(separator: " ")
            let source = ScriptedSource(saying: text)
            let stream = session(source).streamResponse(to: "q")
            var last = ""
            for try await snapshot in stream {
                #expect(snapshot.content.utf8.starts(with: last.utf8), "seed \(seed)")
                last = snapshot.content
            }
            #expect(last == text, "seed \(seed)")
            #expect(try await stream.collect().content == text)
            #expect(try await session(source).respond(to: "q").content == text)
        }
    }

    @Test("Partial values appear in the order of their declaration")
    func partial() async throws {
        for seed in 0..<150 as Range<UInt64> {
            var random = SystemRandom(seed: seed)
            let json = Array(#"{"name": "Ada \n\u00fc", "age": 36}"#)
            // Cut anywhere, also inside of escapes and numbers.
            var pieces: [ScriptedSource.Step] = []
            var start = 0
            while start < json.count {
                let end = min(json.count, start + Int.random(in: 1...5, using: &random))
                pieces.append(.text(String(json[start..<end])))
                start = end
            }
            let steps = pieces
            let session = session(ScriptedSource { _, _ in steps })
            let stream = session.streamResponse(to: "q", generating: Person.self)
            var (name, age): (String?, Int?) = (nil, nil)
            for try await snapshot in stream {
                if snapshot.content.age != nil { #expect(snapshot.content.name != nil) }
                #expect((snapshot.content.name ?? "").hasPrefix(name ?? ""), "seed \(seed)")
                if let age { #expect(snapshot.content.age == age) }
                (name, age) = (snapshot.content.name, snapshot.content.age)
            }
            let whole = try await stream.collect().content
            #expect(whole == Person(name: "Ada \nü", age: 36))
            #expect(name == whole.name && age == whole.age)
        }
    }

    @Test("Ending the iteration cancels the request")
    func ended() async throws {
        let gate = Gate()
        let source = ScriptedSource { _, _ in [.text("a"), .gate(gate), .text("b")] }
        let session = session(source)
        let stream = session.streamResponse(to: "q")
        for try await snapshot in stream {
            #expect(snapshot.content == "a")
            break
        }
        await #expect(throws: CancellationError.self) { try await stream.collect() }
        #expect(!session.isResponding)
        #expect(session.transcript.description == "(Prompt) q")
    }

    @Test("A stream's error comes to the code that iterates, and to the code that collects")
    func failed() async throws {
        let source = ScriptedSource { _, _ in
            [.text("a"), .fail(ReplyFailure.rateLimited(waiting: 3, limit: 3))]
        }
        let stream = session(source).streamResponse(to: "q")
        func isRateLimited(_ error: any Error) -> Bool {
            guard case LanguageModelSession.GenerationError.rateLimited(let context) = error else {
                return false
            }
            return context.retryAfter != nil && context.limit == 3
        }
        await #expect {
            for try await _ in stream {}
        } throws: {
            isRateLimited($0)
        }
        await #expect {
            try await stream.collect()
        } throws: {
            isRateLimited($0)
        }
    }

    @Test("isResponding holds from the making of a stream to its end")
    func responding() async throws {
        let gate = Gate()
        let session = session(ScriptedSource { _, _ in [.gate(gate), .text("a")] })
        let stream = session.streamResponse(to: "q")
        #expect(session.isResponding)
        gate.open()
        #expect(try await stream.collect().content == "a")
        #expect(!session.isResponding)
    }
}

/// Random numbers that a seed gives.
struct SystemRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
