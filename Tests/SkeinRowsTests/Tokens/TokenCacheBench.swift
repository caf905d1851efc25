import Foundation
import SkeinBasics
import SkeinTestSupport

@testable import SkeinRows
@testable import SkeinRowsTestSupport

/// A directory with a data file that has rows of many sorts, and a cache beside it.
struct TokenCacheBench {
    let directory: String

    static let vocabularySize = 400
    static let maximumLength = 40

    var data: String { directory + "/rows.jsonl" }
    var cache: TokenCache { TokenCache(directory: directory + "/cache/tokens") }

    static func with(_ body: (TokenCacheBench) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let bench = TokenCacheBench(directory: directory)
            try AtomicFile.write(text, to: bench.data)
            try body(bench)
        }
    }

    /// A byte order mark, good rows, bad lines, a cut row, one without loss, a conversation.
    static let text: String = {
        let long = String(repeating: "z", count: 50)
        let lines = [
            #"{"prompt":"p","completion":"c"}"#, "", #"{"prompt": 1}"#,
            #"{"prompt":"q","completion":" leads"}"#, #"{"prompt":"e","completion":""}"#, "no\r",
            "{\"prompt\":\"r\",\"completion\":\"\(long)\"}",
            "{\"prompt\":\"\(long)\",\"completion\":\"lost\"}",
            #"{"prompt":[{"role":"user","content":"a"}],"completion":[{"role":"assistant","content":"b"},"#
                + #"{"role":"user","content":"a"},{"role":"assistant","content":"d"}]}"#,
        ]
        return "\u{FEFF}" + lines.joined(separator: "\n") + "\n"
    }()

    static func encoder(
        _ format: PromptFormat = .auto, turns: TrainedTurns = .all,
        maximumLength: Int = maximumLength, digest: String? = "toy"
    ) throws -> RowEncoder {
        var text = ToyTokenizer.encoder()
        text.digest = digest.map { SHA256.digest(of: $0) }
        return try RowEncoder(
            encoder: text, format: format, trainedTurns: turns, maximumLength: maximumLength)
    }

    /// Reads a file as a run does.
    func source(
        _ encoder: RowEncoder? = nil, cache: TokenCache? = nil, version: String = "1"
    ) throws -> TokenSource {
        TokenSource(
            encoder: try encoder ?? Self.encoder(), skippingBadLines: true,
            vocabularySize: Self.vocabularySize, cache: cache ?? self.cache, version: version)
    }

    func key(
        _ encoder: RowEncoder? = nil, data: String? = nil, skipping: Bool = true,
        version: String = "1"
    ) throws -> TokenCacheKey? {
        TokenCacheKey(
            data: try data.map { SHA256.digest(of: $0) } ?? DataFile(path: self.data).digest,
            encoder: try encoder ?? Self.encoder(), skippingBadLines: skipping, version: version)
    }

    /// Reads `bytes` as the cache's file of the bench's data.
    func read(_ bytes: [UInt8], key: TokenCacheKey) throws -> EncodedFile {
        let reader = TokenCacheFile.Reader(
            key: key, data: try DataFile(path: data), vocabularySize: Self.vocabularySize,
            maximumLength: Self.maximumLength)
        return try bytes.withUnsafeBytes { try reader.read($0) }
    }

    /// The bytes of the cache file of `key`.
    func bytes(of key: TokenCacheKey) throws -> [UInt8] {
        try MappedFile(path: cache.path(of: key)).withBytes { Array($0) }
    }

    /// The same bytes with a correct checksum.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        let content = Array(bytes.dropLast(32))
        return content + SHA256.digest(of: content).bytes
    }
}
