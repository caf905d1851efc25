import SkeinBasics
import SkeinJSON

/// What a `GrammarBench` measured, beside what it may cost.
struct GrammarResult: Sendable {
    struct Vocabulary: Sendable {
        var tokens: Int
        var setUp: Measurement
        /// How many masks were asked for.
        var masks: Int
        /// Seconds.
        var meanMask: Double
        var worstMask: Double
    }

    /// A text or a list of at most so many characters or items.
    struct Length: Sendable {
        var kind: String
        var most: Int
        var compile: Measurement
        /// Bytes of what it is compiled to.
        var bytes: Int
    }

    struct Decode: Sendable {
        /// Tokens of the value with forced runs, and of the value for which the model was always
        /// asked.
        var tokens = (short: 0, asked: 0)
        /// Seconds of each repetition.
        var short: [Double] = []
        var asked: [Double] = []
        /// The tokens of `asked` without a grammar.
        var plain: [Double] = []
        /// Keeps the compiler from dropping the work.
        var checksum: Int32 = 0

        /// What the grammar adds to a token, as a share of it.
        var cost: Double {
            Measurement.median(of: zip(asked, plain).map { $0 / $1 }) - 1
        }
        /// How much sooner the value is there by not asking where there is no choice.
        var gain: Double { Measurement.median(of: zip(asked, short).map { $0 / $1 }) }
    }

    var vocabularies: [Vocabulary] = []
    var compile = Measurement(seconds: [])
    var lengths: [Length] = []
    var decode = Decode()

    /// What the figures are shown beside.
    private enum Bar {
        static let meanMask = 30e-6
        static let worstMask = 5e-3
        static let setUp = 0.15
        static let compile = 0.01
        static let cost = 0.03
        static let gain = 1.25
    }

    var json: [(String, JSONValue)] {
        [
            (
                "vocabularies",
                .list(
                    vocabularies.map {
                        .fields([
                            ("tokens", .integer($0.tokens)),
                            ("set_up_seconds", .decimal($0.setUp.median)),
                            ("masks", .integer($0.masks)),
                            ("mean_mask_seconds", .decimal($0.meanMask)),
                            ("worst_mask_seconds", .decimal($0.worstMask)),
                        ])
                    })
            ),
            ("compile_seconds", .decimal(compile.median)),
            (
                "lengths",
                .list(
                    lengths.map {
                        .fields([
                            ("kind", .text($0.kind)), ("most", .integer($0.most)),
                            ("compile_seconds", .decimal($0.compile.median)),
                            ("bytes", .integer($0.bytes)),
                        ])
                    })
            ),
            ("cost_of_a_token", .decimal(decode.cost)),
            ("gain_by_forced_runs", .decimal(decode.gain)),
            ("tokens", .integer(decode.tokens.short)),
            ("tokens_always_asked", .integer(decode.tokens.asked)),
        ]
    }

    var table: [[String]] {
        var rows = [["", "measured", "bar"]]
        for vocabulary in vocabularies {
            let name = "\(vocabulary.tokens) tokens: "
            rows += [
                [
                    name + "set-up", Figures.seconds(vocabulary.setUp.median),
                    Figures.seconds(Bar.setUp),
                ],
                [
                    name + "mean of \(vocabulary.masks) masks",
                    Figures.seconds(vocabulary.meanMask), Figures.seconds(Bar.meanMask),
                ],
                [
                    name + "worst mask", Figures.seconds(vocabulary.worstMask),
                    Figures.seconds(Bar.worstMask),
                ],
            ]
        }
        rows += [
            [
                "compiling 50 properties", Figures.seconds(compile.median),
                Figures.seconds(Bar.compile),
            ]
        ]
        rows += lengths.map {
            [
                "compiling a \($0.kind) of at most \(Figures.grouped($0.most))",
                "\(Figures.seconds($0.compile.median)), \(Figures.bytes($0.bytes))",
                Figures.seconds(Bar.compile),
            ]
        }
        rows += [
            [
                "a token with a schema, over the same without",
                Figures.percent(decode.cost), Figures.percent(Bar.cost),
            ],
            [
                "six fields, faster by forced runs (\(decode.tokens.short) tokens)",
                Figures.fixed(decode.gain, 2) + " x", Figures.fixed(Bar.gain, 2) + " x",
            ],
        ]
        return rows
    }
}
