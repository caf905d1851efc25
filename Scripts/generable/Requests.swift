import Foundation
import SkeinSessions

typealias GenerationError = LanguageModelSession.GenerationError

/// What the numbered runs ask for: each combines a way to choose tokens, a limit and a window.
struct Request {
    let number: Int
    var options: GenerationOptions
    /// Which window, as an index into `Request.windows`.
    let window: Int
    let includesSchema: Bool
    /// How tokens are chosen.
    let mode: String

    /// Tokens of prompt and reply.
    static let windows = [4096, 512, 160]
    /// The names of how tokens are chosen.
    static let modes = [
        "greedy", "all", "top 5", "threshold 0.8", "top 1000", "all, hot", "top 1",
    ]

    init(type: Int, number: Int, seed: UInt64) {
        // Another one for each reply, the same for the same three numbers.
        let drawn = seed &* 1_000_003 &+ UInt64(type) &* 1009 &+ UInt64(number)
        let mode: GenerationOptions.SamplingMode =
            switch number % 7 {
            case 0: .greedy
            case 1: .random(probabilityThreshold: 1, seed: drawn)
            case 2: .random(top: 5, seed: drawn)
            case 3: .random(probabilityThreshold: 0.8, seed: drawn)
            case 4: .random(top: 1000, seed: drawn)
            case 5: .random(probabilityThreshold: 1, seed: drawn)
            default: .random(top: 1, seed: drawn)
            }
        // The fifth draws nearly evenly from all tokens.
        let temperatures: [Double?] = [nil, 1, 0.7, 1.5, 2, 100, 0]
        window = number % 10 == 8 ? 1 : number % 10 == 9 ? 2 : 0
        // No limit of its own where the window is small.
        let limits = [160, 12, 320, 48, 24, 96, 200, 6]
        options = GenerationOptions(
            samplingMode: mode, temperature: temperatures[number % 7],
            maximumResponseTokens: window == 0 ? limits[number / 2 % 8] : nil,
            closesAtLimit: number % 3 != 0)
        includesSchema = number % 4 == 0
        self.number = number
        self.mode = Self.modes[number % 7]
    }

    /// Whether the reply is also made as a stream.
    var isStreamed: Bool { number % 10 == 4 || number % 10 == 9 }

    var text: String {
        "run \(number): window \(Self.windows[window]), "
            + "\(includesSchema ? "with" : "without") schema, "
            + "limit \(options.maximumResponseTokens.map(String.init) ?? "none"), "
            + "\(options.closesAtLimit ? "closing" : "not closing"), \(mode)"
    }
}

/// What is counted.
struct Counts {
    var replies = 0
    var decoded = 0
    var closedEarly = 0
    var streams = 0
    var tokens = 0
    /// The window or the limit ended a value, and `closesAtLimit` is false.
    var cut = 0
    /// Not even the shortest value fits.
    var tooShort = 0
    /// The prompt alone fills the window.
    var promptTooLong = 0
    var compared: [String: Int] = [:]
    var flaws: [String] = []

    mutating func add(_ other: Counts) {
        replies += other.replies
        decoded += other.decoded
        closedEarly += other.closedEarly
        streams += other.streams
        tokens += other.tokens
        cut += other.cut
        tooShort += other.tooShort
        promptTooLong += other.promptTooLong
        compared.merge(other.compared, uniquingKeysWith: +)
        flaws += other.flaws
    }
}
