import SkeinSessions
import SkeinTestSupport
import Testing

@Suite("Trimmed transcripts")
struct TranscriptTrimmingTests {
    private static func entry(_ kind: Character, _ number: Int) -> Transcript.Entry {
        let id = "\(kind)\(number)"
        let segments = SampleTranscript.text(id, id + "s")
        return switch kind {
        case "i":
            .instructions(
                Transcript.Instructions(id: id, segments: segments, toolDefinitions: []))
        case "p": .prompt(Transcript.Prompt(id: id, segments: segments))
        case "c":
            .toolCalls(
                Transcript.ToolCalls(
                    id: id,
                    [
                        Transcript.ToolCall(
                            id: "call\(number)", toolName: "x",
                            arguments: GeneratedContent(properties: [:]))
                    ]))
        case "o":
            .toolOutput(
                Transcript.ToolOutput(id: "call\(number - 1)", toolName: "x", segments: segments))
        default: .response(Transcript.Response(id: id, assetIDs: [], segments: segments))
        }
    }

    /// Entries by the letters of their kinds: an output answers the entry before.
    private static func transcript(_ kinds: String) -> Transcript {
        Transcript(entries: kinds.enumerated().map { entry($1, $0) })
    }

    private static func kinds(_ transcript: Transcript) -> String {
        String(
            transcript.map { entry -> Character in
                switch entry {
                case .instructions: "i"
                case .prompt: "p"
                case .toolCalls: "c"
                case .toolOutput: "o"
                case .response: "r"
                }
            })
    }

    static let table: [(kinds: String, budget: Int, keeping: Int, left: String?)] = [
        ("iprpr", 5, 1, "iprpr"), ("iprpr", 4, 1, "ipr"), ("iprpr", 3, 1, "ipr"),
        ("iprpr", 2, 1, nil), ("iprpr", 2, 0, "i"), ("iprpr", 1, 0, "i"), ("iprpr", 0, 0, nil),
        ("prpr", 2, 1, "pr"), ("ipcorpr", 4, 1, "ipr"), ("iprpcor", 6, 1, "ipcor"),
        ("iprpcor", 5, 1, "ipcor"), ("iprpcor", 4, 1, nil), ("iprpcor", 4, 0, "i"),
        ("iprprpr", 5, 2, "iprpr"), ("iprprpr", 4, 2, nil), ("iprprpr", 7, 9, "iprprpr"),
        ("iprprpr", 6, 9, nil), ("", 0, 1, ""), ("i", 1, 1, "i"), ("i", 0, 1, nil),
        // What stands before the first prompt is a turn, too.
        ("irpr", 3, 1, "ipr"), ("rpr", 2, 1, "pr"),
        // A call without its output stays, whatever is asked for.
        ("iprpc", 3, 0, "ipc"), ("iprpc", 2, 0, nil), ("ipcpr", 4, 0, "ipc"),
        ("iprpr", 3, -1, "ipr"), ("iprpr", 2, -1, "i"),
    ]

    @Test("Oldest turns go first, and what must stay stays")
    func rules() throws {
        for (kinds, budget, keeping, left) in Self.table {
            let transcript = Self.transcript(kinds)
            if let left {
                let trimmed = try transcript.trimmed(to: budget, keeping: keeping) { _ in 1 }
                #expect(Self.kinds(trimmed) == left, "\(kinds), \(budget), \(keeping)")
                #expect(
                    trimmed.allSatisfy { transcript.contains($0) }, "\(kinds), \(budget)")
            } else {
                #expect(throws: TranscriptError.self, "\(kinds), \(budget), \(keeping)") {
                    try transcript.trimmed(to: budget, keeping: keeping) { _ in 1 }
                }
            }
        }
        #expect(throws: TranscriptError.doesNotFit(needed: 3, budget: 2)) {
            try Self.transcript("iprpr").trimmed(to: 2) { _ in 1 }
        }
    }

    @Test("Counts may take time, may fail, and may be absurd")
    func counts() async throws {
        struct Failure: Error {}
        let transcript = Self.transcript("iprpr")
        func slow(_ entry: Transcript.Entry) async throws -> Int {
            await Task.yield()
            return 1
        }
        let waited = try await transcript.trimmed(to: 3, counting: slow)
        #expect(Self.kinds(waited) == "ipr")
        let inline = try await transcript.trimmed(to: 3) { try await slow($0) }
        #expect(inline == waited)
        let atOnce = try transcript.trimmed(to: 3) { _ in 1 }
        #expect(atOnce == waited)
        #expect(throws: Failure.self) {
            try transcript.trimmed(to: 3) { _ in throw Failure() }
        }
        #expect(throws: TranscriptError.doesNotFit(needed: .max, budget: 100)) {
            try transcript.trimmed(to: 100) { _ in .max }
        }
        #expect(try transcript.trimmed(to: 0) { _ in -5 } == transcript)
    }

    @Test("Properties of random transcripts")
    func properties() throws {
        for number in 0..<Damage.count(500) {
            var random = Damage(number: number)
            var kinds = random.below(2) == 0 ? "i" : ""
            for _ in 0..<random.below(8) {
                kinds += "p"
                for _ in 0..<random.below(3) { kinds += "co" }
                if random.below(4) > 0 { kinds += "r" }
            }
            let transcript = Self.transcript(kinds)
            let costs = transcript.map { _ in random.below(10) }
            let cost = Dictionary(uniqueKeysWithValues: zip(transcript.map(\.id), costs))
            let budget = random.below(costs.reduce(0, +) + 10)
            let keeping = random.below(3)
            let note: Comment = "SKEIN_TEST_SEED=\(Damage.seed), number \(number): \(kinds)"
            func total(_ transcript: Transcript) -> Int {
                transcript.reduce(0) { $0 + (cost[$1.id] ?? 0) }
            }
            func trim(_ transcript: Transcript, _ budget: Int) throws -> Transcript {
                try transcript.trimmed(to: budget, keeping: keeping) { cost[$0.id] ?? 0 }
            }
            do {
                let trimmed = try trim(transcript, budget)
                #expect(total(trimmed) <= budget, note)
                // Still a history, with the instructions, and an end of the old one.
                try trimmed.check(byIdentity: true)
                let hasInstructions = kinds.hasPrefix("i")
                let rest = trimmed.dropFirst(hasInstructions ? 1 : 0)
                #expect(trimmed.first == transcript.first || !hasInstructions, note)
                #expect(Array(transcript.suffix(rest.count)) == Array(rest), note)
                if let first = rest.first {
                    guard case .prompt = first else {
                        Issue.record("a turn was cut: \(note)")
                        continue
                    }
                }
                // As much as fits: one turn more would be too much.
                #expect(try trim(transcript, total(trimmed)) == trimmed, note)
                #expect(try trim(trimmed, budget) == trimmed, note)
                #expect(trimmed == transcript || total(transcript) > budget, note)
            } catch let error as TranscriptError {
                guard case .doesNotFit(let needed, budget) = error else { throw error }
                #expect(needed > budget, note)
                #expect(try total(trim(transcript, needed)) == needed, note)
            }
        }
    }
}
