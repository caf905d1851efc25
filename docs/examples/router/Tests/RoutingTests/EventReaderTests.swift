import Routing
import Testing

/// Server-sent events, cut anywhere.
struct EventReaderTests {
    private let stream =
        "\u{FEFF}data: one\n\ndata:two\r\n\r\nid: 4\ndata: a\rdata: b\r\rdata\n\n"
        + ": words\n\nevent: x\n\ndata:  é 漢\n\ndata: lost"
    private let events = ["one", "two", "a\nb", "", " é 漢"]

    @Test func whereverTheyAreCut() throws {
        let bytes = Array(stream.utf8)
        for cut in 0...bytes.count {
            var reader = EventReader()
            let found = try reader.read(bytes[..<cut]) + reader.read(bytes[cut...])
            #expect(found == events, "cut at \(cut)")
        }
        var reader = EventReader()
        #expect(try bytes.flatMap { try reader.read([$0]) } == events)
    }

    @Test func whatIsTooLongIsRefused() throws {
        var reader = EventReader(limit: 8)
        #expect(throws: ProviderFailure.malformed("a line of more than 8 bytes")) {
            try reader.read("data: 123".utf8)
        }
        reader = EventReader(limit: 8)
        #expect(throws: ProviderFailure.malformed("an event of more than 8 bytes")) {
            try reader.read("data: 12\ndata: 12\ndata: 12\ndata: 12\n".utf8)
        }
    }

    @Test func whatIsNotTextIsRefused() throws {
        var reader = EventReader()
        let bytes = Array("data: ".utf8) + [0xC3, 0x28] + Array("\n\n".utf8)
        #expect(throws: ProviderFailure.malformed("an event that is not UTF-8")) {
            try reader.read(bytes)
        }
    }
}
