import SkeinGrammar
import SkeinText
import Testing

@testable import SkeinInference

@Suite("What begins a call")
struct MarkerTests {
    /// Every way to cut a text into at most four pieces.
    private static func cuts(_ text: [UInt8]) -> [[[UInt8]]] {
        var all = [[text]]
        for first in 1..<text.count {
            all.append([Array(text[..<first]), Array(text[first...])])
            for second in first + 1..<max(first + 1, text.count) {
                let head = [Array(text[..<first]), Array(text[first..<second])]
                all.append(head + [Array(text[second...])])
            }
        }
        return all
    }

    @Test("a marker is found wherever tokens cut it, and whatever is after it in its last token")
    func markerCuts() throws {
        for (name, format) in ToolFormat.tested where !format.isBare {
            let whole = "a " + format.marker + format.afterMarker + "{x"
            let vocabulary = try TestTokenizer.pieces(of: whole)
            let marker = format.marker.utf8.count + 2
            for cut in Self.cuts(Array(whole.utf8)) {
                var guide = try TestTools.guide(vocabulary, format)
                var fed: [UInt8] = []
                var events: [ToolEvent] = []
                for piece in cut {
                    guard case .free = try guide.next() else { break }
                    let token = try #require(vocabulary.token(piece), "\(name): \(piece)")
                    let tokens = try guide.accept(token)
                    let bytes = tokens.flatMap { vocabulary.tokenizer.bytes(of: $0) }
                    #expect(piece.starts(with: bytes), "\(name) \(cut)")
                    if bytes != piece { #expect(fed.count + bytes.count >= marker) }
                    fed += bytes
                    events += guide.takeEvents()
                }
                // Then the way into the call is forced.
                while case .forced(let tokens) = try guide.next(), fed.count < whole.utf8.count - 2
                {
                    for token in tokens {
                        #expect(try guide.accept(token) == [token])
                        fed += vocabulary.tokenizer.bytes(of: token)
                    }
                }
                let wanted = Array(whole.utf8.dropLast(2))
                #expect(
                    fed.starts(with: wanted),
                    "\(name): \(cut) \(String(decoding: fed, as: UTF8.self))")
                #expect(events == [.text("a")], "\(name): \(cut) \(events)")
            }
        }
    }

    @Test("a marker may be one added token, special or not", arguments: [true, false])
    func addedMarker(_ isSpecial: Bool) throws {
        let vocabulary = try TestTokenizer(words: [], added: [("<tool_call>", isSpecial)])
        let marker = try #require(vocabulary.tokenizer.id(of: "<tool_call>"))
        var guide = try TestTools.guide(vocabulary, .hermes)
        for byte in "Well \n".utf8 { _ = try guide.accept(Int32(byte)) }
        #expect(try guide.accept(marker) == [marker])
        #expect(guide.takeEvents() == [.text("Well")])
        guard case .forced([10]) = try guide.next() else {
            Issue.record("a line's end comes next")
            return
        }
        // The second call's marker is that token, too.
        #expect(guide.parts.callNext == [10, marker, 10])
        #expect(guide.parts.opening == [marker, 10])
    }

    @Test(
        "after a marker that is a special token no space is put",
        arguments: ["pieces_llama", "pieces_gemma"])
    func specialMarker(_ name: String) throws {
        let vocabulary = try TestTokenizer(fixture: name)
        let format = ToolFormat(
            marker: "<|u|>", afterMarker: " [", callNext: ",<|u|>[", listEnd: "]")
        let parts = try CallTokens(format, vocabulary.tokenizer, vocabulary.grammars)
        let marker = try #require(vocabulary.tokenizer.id(of: "<|u|>"))
        #expect(parts.opening.first == marker && parts.callNext?.contains(marker) == true)
        for (tokens, text) in [(parts.opening, "<|u|> ["), (parts.callNext ?? [], ",<|u|>[")] {
            let bytes = tokens.flatMap { vocabulary.tokenizer.bytes(of: $0) }
            #expect(String(decoding: bytes, as: UTF8.self) == text)
        }
    }

    @Test("text that may become a marker is held back, and let go when it does not")
    func heldBack() throws {
        let vocabulary = try TestTokenizer(words: [])
        var guide = try TestTools.guide(vocabulary, .hermes)
        func say(_ text: String) throws -> [ToolEvent] {
            for byte in text.utf8 { #expect(try guide.accept(Int32(byte)) == [Int32(byte)]) }
            return guide.takeEvents()
        }
        #expect(try say("é <tool_ca") == [.text("é")])
        #expect(try say("l") == [])
        #expect(try say("<") == [.text(" <tool_cal")])
        #expect(try say("<t") == [.text("<")])
        #expect(try say("!  ") == [.text("<t!")])
        #expect(try say("x") == [.text("  x")])
        #expect(try say(" <tool") == [])
        try guide.acceptEnd()
        #expect(guide.rest() == [.text(" <tool")] && guide.finish == .stop)
    }
}
