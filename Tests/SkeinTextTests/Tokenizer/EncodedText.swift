import Testing

@testable import SkeinText

extension Tokenizer {
    /// The tokens of a text that no expression takes too long for.
    func encode(
        _ text: String, parsingSpecialTokens: Bool = true, after previous: Int32? = nil
    ) -> [Int32] {
        recorded { () throws(TokenizerError) in
            try ids(of: text, parsingSpecialTokens: parsingSpecialTokens, after: previous)
        }
    }

    func encode(
        utf8 bytes: UnsafeBufferPointer<UInt8>, parsingSpecialTokens: Bool = true,
        after previous: Int32? = nil
    ) -> [Int32] {
        recorded { () throws(TokenizerError) in
            try ids(ofUTF8: bytes, parsingSpecialTokens: parsingSpecialTokens, after: previous)
        }
    }

    func encodeWhole(_ text: String) -> [Int32] {
        recorded { () throws(TokenizerError) in try ids(ofWhole: text) }
    }

    private func recorded(_ ids: () throws(TokenizerError) -> [Int32]) -> [Int32] {
        do throws(TokenizerError) {
            return try ids()
        } catch {
            Issue.record(error)
            return []
        }
    }
}
