import SkeinBasics
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport

@Suite struct RowEncoderTests {
    private func encoder(
        _ format: PromptFormat, _ turns: TrainedTurns = .all, _ maximumLength: Int = 100,
        text: TextEncoder = ToyTokenizer.encoder()
    ) throws -> RowEncoder {
        try RowEncoder(
            encoder: text, format: format, trainedTurns: turns, maximumLength: maximumLength)
    }

    /// The row as text, with trained parts in brackets.
    private func marked(_ row: PairRow, by encoder: RowEncoder) throws -> String {
        let draft = try encoder.draft(row)
        let row = TokenizedRow(
            number: 0, ids: draft.ids, targets: draft.targets,
            maximumLength: encoder.maximumLength)
        var text = ""
        for (position, id) in row.ids.enumerated() {
            let opens = row.targets.contains { $0.lowerBound == position }
            let closes = row.targets.contains { $0.upperBound == position + 1 }
            text += (opens ? "[" : "") + ToyTokenizer.decode([id]) + (closes ? "]" : "")
        }
        return text
    }

    @Test(
        "in each format a pair's prompt has no loss, its completion and end token do",
        arguments: [
            (PromptFormat.chat, "<user>ab<stop>\n<bot>[cd<stop>]"),
            (.auto, "<user>ab<stop>\n<bot>[cd<stop>]"),
            (.eos, "ab<end>[cd<end>]"),
            (.raw, "ab[cd<end>]"),
        ])
    func pair(format: PromptFormat, expected: String) throws {
        let row = PairRow.pair(prompt: "ab", completion: "cd")
        #expect(try marked(row, by: encoder(format)) == expected)
    }

    @Test("auto without a template is eos")
    func autoWithoutTemplate() throws {
        let plain = try encoder(.auto, text: ToyTokenizer.encoder(chat: nil))
        #expect(plain.format == .eos)
        #expect(try marked(.pair(prompt: "a", completion: "b"), by: plain) == "a<end>[b<end>]")
    }

    @Test("text has loss on all but the first token, which never carries loss")
    func text() throws {
        #expect(try marked(.text("abc"), by: encoder(.chat)) == "a[bc<end>]")
        let empty = PairRow.pair(prompt: "", completion: "ab")
        #expect(try marked(empty, by: encoder(.raw)) == "a[b<end>]")
    }

    @Test("a conversation has loss on assistant contents and their end of turn and nothing else")
    func conversation() throws {
        let row = PairRow.conversation([
            ChatTurn(role: "system", content: "s"), ChatTurn(role: "user", content: "u"),
            ChatTurn(role: "assistant", content: "one"), ChatTurn(role: "user", content: "v"),
            ChatTurn(role: "assistant", content: "two"), ChatTurn(role: "tool", content: "w"),
        ])
        #expect(
            try marked(row, by: encoder(.chat))
                == "<sys>s<stop>\n<user>u<stop>\n<bot>[one<stop>]\n<user>v<stop>\n<bot>[two<stop>]")
        #expect(
            try marked(row, by: encoder(.chat, .last))
                == "<sys>s<stop>\n<user>u<stop>\n<bot>one<stop>\n<user>v<stop>\n<bot>[two<stop>]")
    }

    @Test("a pair and the same conversation of two turns give equal rows")
    func pairEqualsConversation() throws {
        let chat = try encoder(.chat)
        let turns = PairRow.conversation([
            ChatTurn(role: "user", content: "ab"), ChatTurn(role: "assistant", content: "cd"),
        ])
        #expect(
            try marked(turns, by: chat) == marked(.pair(prompt: "ab", completion: "cd"), by: chat))
    }

    @Test("tokens never straddle the border between prompt and content")
    func border() throws {
        // A tokenizer that merges every two characters: in the whole text it would merge "a" with
        // "b"; encoded separately, it cannot.
        let merging = TextEncoder(
            encode: { text in
                let bytes = Array(text.utf8)
                return stride(from: 0, to: bytes.count, by: 2).map { (start: Int) -> Int32 in
                    bytes[start...].prefix(2).reduce(Int32(0)) { $0 * 256 + Int32($1) }
                }
            }, decode: { "\($0)" }, renderChat: nil, endID: 9, endOfTurnIDs: [])
        let draft = try encoder(.raw, text: merging).draft(.pair(prompt: "a", completion: "bc"))
        #expect(draft.ids == [97, 98 * 256 + 99, 9])
        #expect(draft.targets == [1..<3])
    }

    @Test("a turn that the template writes in two pieces is one content")
    func splitTurn() throws {
        let text = ToyTokenizer.encoder(chat: { turns, _ in
            [
                ChatPiece(text: "<user>"), ChatPiece(text: turns[0].content, turn: 0),
                ChatPiece(text: "<stop><bot>"), ChatPiece(text: "thought", turn: 1),
                ChatPiece(text: "|"), ChatPiece(text: "said", turn: 1), ChatPiece(text: "<stop>"),
            ]
        })
        let row = PairRow.conversation([
            ChatTurn(role: "user", content: "u"), ChatTurn(role: "assistant", content: "x"),
        ])
        #expect(
            try marked(row, by: encoder(.chat, text: text))
                == "<user>u<stop><bot>[thought|said<stop>]")
    }

    @Test("a template that does not end a turn with an end-of-turn token is an error")
    func noEndOfTurn() throws {
        let text = ToyTokenizer.encoder(chat: { turns, _ in
            turns.enumerated().flatMap {
                [ChatPiece(text: $1.content, turn: $0), ChatPiece(text: "!\n")]
            }
        })
        let chat = try encoder(.chat, text: text)
        #expect(throws: RowError.noEndOfTurn(found: "!\n", path: "", line: 0)) {
            try chat.draft(.pair(prompt: "a", completion: "b"))
        }
        #expect(throws: RowError.noEndOfTurn(found: "!\n", path: "", line: 0)) {
            try chat.draft(.conversation([ChatTurn(role: "assistant", content: "b")]))
        }
    }

    @Test("a model without what a format needs is an error")
    func needs() throws {
        #expect(throws: RowError.noTemplate) {
            try encoder(.chat, text: ToyTokenizer.encoder(chat: nil))
        }
        #expect(throws: RowError.noEndToken) {
            try encoder(.raw, text: ToyTokenizer.encoder(endID: nil))
        }
        #expect(throws: RowError.noEndToken) {
            try encoder(.chat, text: ToyTokenizer.encoder(endID: nil)).draft(.text("a"))
        }
    }

    @Test("long rows are cut at the right, rows without loss are skipped, both are counted")
    func cutAndSkip() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/d.jsonl"
            try AtomicFile.write(
                """
                {"prompt": "ab", "completion": "cdefgh"}
                {"prompt": "abcdefgh", "completion": "x"}
                {"prompt": "a", "completion": "b"}

                {"prompt": [{"role": "user", "content": "no"}], \
                "completion": [{"role": "user", "content": "answer"}]}
                """, to: path)
            let file = try PairFile(path: path)
            let rows = try encoder(.chat, .all, 8).encode(file)
            #expect(rows.rows.map(\.number) == [0, 2])
            #expect(rows.rows[0].ids == ToyTokenizer.encode("<user>ab<stop>\n<bot>cd"))
            #expect(rows.rows[0].targets == [6..<8])
            #expect(rows.cutCount == 3)
            #expect(rows.skippedCount == 2)
            #expect(rows.skippedLines == [2, 5])
            #expect(rows.lossTokenCount == 4)
            #expect(
                throws: RowError.noLossTokens(path: path, rows: 4, maximumLength: 4)
            ) { try encoder(.chat, .all, 4).encode(file) }
            #expect(throws: RowError.conversationWithoutTemplate(path: path, line: 5)) {
                try encoder(.raw).encode(file)
            }
        }
    }

    /// Like a template of Qwen 3: what is before "|" is a thought, which stays in the last turn only.
    private static func forgetful(_ turns: [ChatTurn], _ addsPrompt: Bool) -> [ChatPiece] {
        var shown = turns
        for index in turns.indices.dropLast() where turns[index].isAssistant {
            let words = turns[index].content.split(separator: "|").last.map(String.init) ?? ""
            shown[index] = ChatTurn(role: "assistant", content: words)
        }
        return ToyTokenizer.render(shown, addsPrompt)
    }

    @Test(
        "a turn that the template rewrites later is trained as it was said, in a sequence of its own"
    )
    func rewrittenTurns() throws {
        let text = ToyTokenizer.encoder(chat: Self.forgetful)
        let encoder = try encoder(.chat, text: text)
        func texts(_ row: PairRow) throws -> [String] {
            try encoder.drafts(row).map { draft in
                let row = TokenizedRow(number: 0, ids: draft.ids, targets: draft.targets)
                return DataReport.marked(DataReport.parts(row, decode: ToyTokenizer.decode))
            }
        }
        var turns = [
            ChatTurn(role: "user", content: "u"), ChatTurn(role: "assistant", content: "a|b"),
            ChatTurn(role: "user", content: "v"), ChatTurn(role: "assistant", content: "c|d"),
        ]
        let last = "<user>u<stop>\n<bot>b<stop>\n<user>v<stop>\n<bot>>>>c|d<stop><<<"
        #expect(
            try texts(.conversation(turns)) == ["<user>u<stop>\n<bot>>>>a|b<stop><<<", last])
        // Without thoughts nothing is rewritten, and both stand in one sequence.
        turns[1] = ChatTurn(role: "assistant", content: "b")
        #expect(
            try texts(.conversation(turns)) == [
                "<user>u<stop>\n<bot>>>>b<stop><<<\n<user>v<stop>\n<bot>>>>c|d<stop><<<"
            ])
        // A turn of weight 0 is context.
        turns[1].isTrained = false
        #expect(try texts(.conversation(turns)) == [last])
    }

    @Test("what a template adds to an answer is learned by pairs, too, up to the end of turn")
    func addedSpace() throws {
        // As Llama 2: a space on both sides of the answer.
        let text = ToyTokenizer.encoder(chat: { turns, _ in
            turns.enumerated().flatMap { index, turn in
                turn.isAssistant
                    ? [
                        ChatPiece(text: " "), ChatPiece(text: turn.content, turn: index),
                        ChatPiece(text: " <end>"),
                    ]
                    : [
                        ChatPiece(text: "<user>"), ChatPiece(text: turn.content, turn: index),
                        ChatPiece(text: "<bot>"),
                    ]
            }
        })
        let row = PairRow.pair(prompt: "u", completion: "a")
        #expect(try marked(row, by: encoder(.chat, text: text)) == "<user>u<bot>[ a <end>]")
    }

    @Test("a limit of the template is an error, wherever it is met; a refusal is not")
    func prefixErrors() throws {
        let conversation = PairRow.conversation([
            ChatTurn(role: "user", content: "u"), ChatTurn(role: "assistant", content: "a"),
        ])
        func encoder(_ error: TemplateError) throws -> RowEncoder {
            try self.encoder(
                .chat,
                text: ToyTokenizer.encoder(chat: { turns, addsPrompt in
                    if addsPrompt { throw error }
                    return ToyTokenizer.render(turns, addsPrompt)
                }))
        }
        let refusal = TemplateError.raised(message: "no", line: 1, template: "t")
        #expect(
            try marked(conversation, by: encoder(refusal)) == "<user>u<stop>\n<bot>[a<stop>]")
        let limit = TemplateError.limit(.steps(1), line: 1, template: "t")
        #expect(throws: limit) { try encoder(limit).drafts(conversation) }
    }

    @Test("the error for a row that the template refuses names its file and line")
    func refusedRow() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/d.jsonl"
            // The first refused row is the second one, on the third line.
            try AtomicFile.write(
                """
                {"prompt": "u", "completion": "a"}

                {"prompt": [{"role": "user", "content": "no"}], \
                "completion": [{"role": "assistant", "content": "a"}]}
                {"prompt": "no", "completion": "a"}
                """, to: path)
            let refusal = TemplateError.raised(message: "be polite", line: 7, template: "t.jinja")
            let text = ToyTokenizer.encoder(chat: { turns, addsPrompt in
                if turns.first?.content == "no" { throw refusal }
                return ToyTokenizer.render(turns, addsPrompt)
            })
            let error = #expect(throws: RowError.self) {
                try encoder(.chat, text: text).encode(PairFile(path: path))
            }
            #expect(error == .badConversation(path: path, line: 3, problem: refusal))
            let explanation = try #require(error).explanation
            #expect(explanation.place == "\(path):3, in t.jinja, line 7")
            #expect(explanation.what == "the chat template refuses this conversation: be polite")
        }
    }

    @Test("sequences of one row that are together longer than a row may be are an error")
    func rewrittenTooLong() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/d.jsonl"
            try AtomicFile.write(
                """
                {"messages": [{"role": "user", "content": "t"}, \
                {"role": "assistant", "content": "t"}]}
                {"messages": [{"role": "user", "content": "u"}, \
                {"role": "assistant", "content": "a|b"}, {"role": "user", "content": "v"}, \
                {"role": "assistant", "content": "c|d"}]}
                """, to: path)
            let file = try PairFile(path: path)
            let all = try encoder(.chat, text: ToyTokenizer.encoder(chat: Self.forgetful))
            let tokens = try all.encode(file).rows.dropFirst().reduce(0) { $0 + $1.ids.count }
            _ = try all.encode(file, rowTokens: tokens)
            #expect(
                throws: RowError.rewrittenTooLong(
                    path: path, line: 2, limit: "\(tokens - 1) tokens")
            ) { try all.encode(file, rowTokens: tokens - 1) }
            let last = try encoder(
                .chat, .last, text: ToyTokenizer.encoder(chat: Self.forgetful))
            _ = try last.encode(file, rowTokens: tokens - 1)
        }
    }

    @Test("the texts of rewritten turns have a limit in bytes")
    func rewrittenBytes() throws {
        let turns = [
            ChatTurn(role: "user", content: "u"), ChatTurn(role: "assistant", content: "a|b"),
            ChatTurn(role: "user", content: "v"), ChatTurn(role: "assistant", content: "c|d"),
        ]
        func sequences(limit: Int) throws -> [ChatSequence] {
            try ChatSequence.sequences(
                assistants: [1, 3], trained: [1, 3], count: 4, ends: [Array("<stop>".utf8)],
                limit: limit,
                render: { count, addsPrompt in
                    let pieces = Self.forgetful(Array(turns.prefix(count)), addsPrompt)
                    return RenderedChat(
                        text: pieces.map(\.text).joined(),
                        pieces: pieces.map { .init(text: $0.text, messageIndex: $0.turn) })
                })
        }
        let bytes = "<user>u<stop>\n<bot>a|b<stop>\n".utf8.count
        #expect(try sequences(limit: bytes).count == 2)
        #expect(throws: ChatSequenceError.textBytes(limit: bytes - 1)) {
            try sequences(limit: bytes - 1)
        }
    }
}
