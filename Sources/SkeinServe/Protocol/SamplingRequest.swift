import SkeinBasics
import SkeinFormats
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels

/// What a request says of how tokens are picked and when an answer ends; the same at all endpoints.
struct SamplingRequest: Sendable {
    /// How tokens are picked; `SamplingRule` says what counts where it is silent.
    var wish: SamplingWish
    /// Added to the logits of tokens before one is picked.
    var bias: [Int32: Float] = [:]
    /// Answers to the same prompt.
    var choices = 1
    /// Texts before which an answer ends.
    var stops: [String] = []
    /// Tokens that end an answer as the end of a turn does.
    var stopTokens: Set<Int32> = []
    /// nil: as many as the server gives by default.
    var maximumTokens: Int?
    /// Goes on behind an end of turn, to measure.
    var ignoresEnd = false
    var streams = false
    /// Whether the last chunk of a stream says what was used.
    var includesUsage = false

    /// OpenAI's names, and for what OpenAI has no name vLLM's (`top_k`, `min_p`,
    /// `repetition_penalty`, `ignore_eos`).
    init(_ fields: FieldReader, randomSeed: () -> UInt64) throws(APIError) {
        wish = SamplingWish(
            temperature: try fields.number("temperature", SamplingRange.temperature),
            topK: try fields.integer("top_k", -1...SamplingRange.topK.upperBound)
                .map { max(0, $0) },
            topP: try fields.number("top_p", SamplingRange.topP),
            minP: try fields.number("min_p", SamplingRange.minP),
            repetition: try fields.number("repetition_penalty", SamplingRange.repetitionPenalty))
        let counted = SamplingRange.countPenalty
        wish.presence = try fields.number("presence_penalty", counted) ?? 0
        wish.frequency = try fields.number("frequency_penalty", counted) ?? 0
        guard wish.repetition.map({ $0 > 0 }) ?? true else {
            throw fields.wrong("repetition_penalty", SamplingRange.repetitionPenalty.text)
        }
        if let seed = try fields.integer("seed", Int.min...Int.max) {
            wish.seed = UInt64(bitPattern: Int64(seed))
        } else {
            wish.seed = randomSeed()
        }
        try Self.checkPenaltyWindow(fields, wish)
        choices = try fields.integer("n", 1...Limits.choices) ?? 1
        if let best = try fields.integer("best_of", 1...Limits.choices), best != choices {
            throw .invalid("best_of", "best_of other than n is not supported: leave it out")
        }
        stops = try fields.strings("stop", atMost: Limits.stops) ?? []
        guard stops.allSatisfy({ !$0.isEmpty && $0.utf8.count <= Limits.stopBytes }) else {
            throw fields.wrong("stop", "texts of 1 to \(Limits.stopBytes) bytes")
        }
        stopTokens = try fields.tokens("stop_token_ids", atMost: Limits.stopTokens)
        maximumTokens = try Self.maximumTokens(fields)
        ignoresEnd = try fields.bool("ignore_eos") ?? false
        streams = try fields.bool("stream") ?? false
        if let options = try fields.object("stream_options") {
            includesUsage = try options.bool("include_usage") ?? false
        }
        bias = try Self.bias(fields)
    }

    /// The newest name counts. -1 is as many as fit, as in llama-server.
    private static func maximumTokens(_ fields: FieldReader) throws(APIError) -> Int? {
        for name in ["max_completion_tokens", "max_tokens", "n_predict"] {
            if let limit = try fields.integer(name, -1...Limits.tokens) {
                return limit < 0 ? Limits.tokens : limit
            }
        }
        return nil
    }

    /// llama-server's penalties look back over so many tokens. Here they count the prompt and the answer.
    private static func checkPenaltyWindow(
        _ fields: FieldReader, _ wish: SamplingWish
    ) throws(APIError) {
        guard let window = try fields.integer("repeat_last_n", -1...Limits.tokens), window >= 0,
            wish.repetition ?? 1 != 1 || wish.presence != 0 || wish.frequency != 0
        else { return }
        throw .invalid(
            "repeat_last_n",
            "penalties count the whole prompt and answer here: leave repeat_last_n out, or send -1",
            code: "unsupported")
    }

    private static func bias(_ fields: FieldReader) throws(APIError) -> [Int32: Float] {
        guard let value = fields["logit_bias"] else { return [:] }
        guard let entries = value.fields, entries.count <= Limits.biases else {
            throw fields.wrong(
                "logit_bias", "an object of at most \(Limits.biases) token ids and their biases")
        }
        var bias: [Int32: Float] = [:]
        for entry in entries {
            // "+1" and "01" would be other spellings of 1, and one of two biases would be lost.
            guard let token = Int32(entry.name), token >= 0, String(token) == entry.name,
                let number = entry.value.double,
                (-100...100).contains(number)
            else {
                throw fields.wrong(
                    "logit_bias", "token ids with numbers from -100 to 100, such as {\"50\": -100}")
            }
            bias[token] = Float(number)
        }
        return bias
    }
}
