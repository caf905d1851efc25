import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinText
import SkeinTraining

/// How fast a model's tokenizer encodes texts on one thread, beside a scan of the same texts.
package struct TokenizeBench {
    /// Each is encoded by itself, as rows are.
    let texts: [String]
    let tokenizer: Tokenizer

    /// - Parameters:
    ///   - modelPath: the model whose tokenizer is measured.
    ///   - dataPath: rows as `train` takes them; nil: `pages`.
    ///   - pages: texts for use without rows.
    /// - Throws: what the model, its tokenizer and the rows throw.
    init(modelPath: String, dataPath: String?, pages: () -> [String]) throws {
        tokenizer = try Tokenizer(model: try ModelDirectory.open(modelPath).raw)
        texts =
            try dataPath.map { path in
                try DataFiles(path: path).train.flatMap {
                    try PairFile(path: $0.path).rows.flatMap(Self.texts(of:))
                }
            } ?? pages()
    }

    private static func texts(of row: PairRow) -> [String] {
        switch row {
        case .text(let text): [text]
        case .pair(let prompt, let completion): [prompt, completion]
        case .preference(let chosen, let rejected): texts(of: chosen) + texts(of: rejected)
        case .conversation(let turns, _): turns.map(\.content)
        }
    }

    /// Encodes, then scans.
    func run(_ effort: Effort) throws(TokenizerError) -> TokenizeResult {
        let bytes = texts.reduce(0) { $0 + $1.utf8.count }
        // A text that cannot be encoded is an error before anything is measured.
        for text in texts { _ = try tokenizer.ids(of: text) }
        var tokens = 0
        let encoding = Stopwatch.measure(effort) {
            // Each was encoded above.
            tokens = texts.reduce(0) { $0 + ((try? tokenizer.ids(of: $1))?.count ?? 0) }
        }
        // Kept, so that the compiler cannot drop the loop.
        var sum: UInt32 = 0
        let scan = Stopwatch.measure(effort) {
            for text in texts {
                for scalar in text.unicodeScalars { sum = sum &* 31 &+ scalar.value }
            }
        }
        return TokenizeResult(
            texts: texts.count, bytes: bytes, tokens: tokens, encoding: encoding, scan: scan,
            checksum: sum)
    }
}

/// What a `TokenizeBench` measured.
struct TokenizeResult: Sendable, Equatable {
    var texts: Int
    /// The size of all texts as UTF-8.
    var bytes: Int
    var tokens: Int
    var encoding: Measurement
    /// Decoding every character of the texts and nothing more: no tokenizer can do less.
    var scan: Measurement
    /// Proves what the scan read.
    var checksum: UInt32

    /// Bytes per second.
    var rate: Double { encoding.rate(of: bytes) }
    var limit: Double { scan.rate(of: bytes) }
    var share: Double { limit > 0 ? rate / limit : 0 }
    var tokensPerSecond: Double { encoding.rate(of: tokens) }

    var json: [(String, JSONValue)] {
        [
            ("texts", .integer(texts)), ("bytes", .integer(bytes)), ("tokens", .integer(tokens)),
            ("seconds", .decimal(encoding.median)), ("spread", .decimal(encoding.spread)),
            ("bytes_per_second", .decimal(rate)), ("tokens_per_second", .decimal(tokensPerSecond)),
            ("limit", .text("decoding every UTF-8 character of the same texts")),
            ("limit_bytes_per_second", .decimal(limit)), ("share", .decimal(share)),
        ]
    }

    var table: [[String]] {
        [
            ["", "time", "rate", "spread", "of limit"],
            [
                "encoding", Figures.seconds(encoding.median), Figures.rate(rate, unit: "B"),
                Figures.percent(encoding.spread), Figures.percent(share),
            ],
            [
                "limit: decoding every character", Figures.seconds(scan.median),
                Figures.rate(limit, unit: "B"), Figures.percent(scan.spread), "",
            ],
        ]
    }
}

extension TokenizeBench {
    /// Measures a tokenizer on one thread; the parameters are the initializer's.
    package static func report(
        modelPath: String, dataPath: String?, pages: () -> [String]
    ) throws -> BenchReport {
        let effort = Effort.kernels
        let result = try TokenizeBench(
            modelPath: modelPath, dataPath: dataPath, pages: pages
        ).run(effort)
        return BenchReport(
            .current(), [("threads", .integer(1))] + result.json,
            [
                "one thread; \(Figures.count(result.texts, "text")), "
                    + "\(Figures.bytes(result.bytes)), \(Figures.count(result.tokens, "token")); "
                    + "median of \(effort.repetitions)"
            ], result.table)
    }
}
