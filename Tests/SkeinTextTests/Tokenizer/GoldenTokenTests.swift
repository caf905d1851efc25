import Testing

@testable import SkeinText

/// What the Hugging Face `tokenizers` library (version in the file) makes of 379 texts with the five
/// small tokenizers.
private struct Goldens: Decodable {
    struct Entry: Decodable {
        struct Plain: Decodable {
            let index: Int
            let ids: [Int32]

            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                index = try list.decode(Int.self)
                ids = try list.decode([Int32].self)
            }
        }

        struct Decoding: Decodable {
            let ids: [Int32]
            let text: String
            let textWithoutSpecial: String

            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                ids = try list.decode([Int32].self)
                text = try list.decode(String.self)
                textWithoutSpecial = try list.decode(String.self)
            }
        }

        let ids: [[Int32]]
        let idsWithoutSpecial: [Plain]
        let decodings: [Decoding]

        private enum CodingKeys: String, CodingKey {
            case ids
            case idsWithoutSpecial = "ids_without_special"
            case decodings
        }
    }

    let texts: [String]
    let tokenizers: [String: Entry]
}

@Suite struct GoldenTokenTests {
    @Test("gives the library's ids", arguments: Fixtures.names)
    func ids(_ name: String) throws {
        let goldens = try Fixtures.decode(Goldens.self, "goldens")
        let tokenizer = try Fixtures.tokenizer(name)
        let entry = try #require(goldens.tokenizers[name])
        #expect(goldens.texts.count == 379 && entry.ids.count == 379)
        for (text, ids) in zip(goldens.texts, entry.ids) {
            #expect(tokenizer.encode(text) == ids, "\(name): \(text.debugDescription)")
        }
    }

    @Test("gives the library's ids when special tokens are text", arguments: Fixtures.names)
    func plainIDs(_ name: String) throws {
        let goldens = try Fixtures.decode(Goldens.self, "goldens")
        let tokenizer = try Fixtures.tokenizer(name)
        let entry = try #require(goldens.tokenizers[name])
        var expected = entry.ids
        for plain in entry.idsWithoutSpecial { expected[plain.index] = plain.ids }
        #expect(expected != entry.ids)
        for (text, ids) in zip(goldens.texts, expected) {
            #expect(
                tokenizer.encode(text, parsingSpecialTokens: false) == ids,
                "\(name): \(text.debugDescription)")
        }
    }

    @Test("decodes as the library, broken UTF-8 included", arguments: Fixtures.names)
    func decodings(_ name: String) throws {
        let goldens = try Fixtures.decode(Goldens.self, "goldens")
        let tokenizer = try Fixtures.tokenizer(name)
        for entry in try #require(goldens.tokenizers[name]).decodings {
            let text = tokenizer.decode(entry.ids)
            #expect(Array(text.utf8) == Array(entry.text.utf8), "\(name): \(entry.ids)")
            let plain = tokenizer.decode(entry.ids, skippingSpecialTokens: true)
            #expect(
                Array(plain.utf8) == Array(entry.textWithoutSpecial.utf8),
                "\(name): \(entry.ids)")
        }
    }

    @Test("gives every text back where the vocabulary has all bytes and nothing is normalized")
    func roundTrip() throws {
        let goldens = try Fixtures.decode(Goldens.self, "goldens")
        for name in ["gpt2", "llama3"] {
            let tokenizer = try Fixtures.tokenizer(name)
            for text in goldens.texts {
                let back = tokenizer.decode(tokenizer.encode(text))
                #expect(Array(back.utf8) == Array(text.utf8), "\(text.debugDescription)")
            }
        }
    }
}
