import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels

/// Options that say how the next token is picked.
///
/// What is not given follows `SamplingRule`.
enum SamplingFlags {
    static let temperature = Option.optional(
        "temperature", .number(SamplingRange.temperature),
        absent: "0 with an adapter; else the model's own, else 0",
        "sampling temperature; 0 = always the most likely token")
    static let topK = Option.optional(
        "top-k", .integer(SamplingRange.topK), absent: openly,
        "sample from the K most likely tokens; 0 = all")
    static let topP = Option.optional(
        "top-p", .number(SamplingRange.topP), absent: openly,
        "sample from the most likely tokens that together have this probability; 1 = all")
    static let minP = Option.optional(
        "min-p", .number(SamplingRange.minP), absent: openly,
        "sample from tokens with at least this share of the largest probability; 0 = all")
    private static let openly = "all with an adapter; else the model's own, else all"
    static let repetitionPenalty = Option.optional(
        "repetition-penalty", .number(SamplingRange.repetitionPenalty),
        absent: "1 with an adapter; else the model's own, else 1",
        "divide positive logits of tokens used so far, prompt included, by this; 1 = off")
    static let presencePenalty = Option(
        "presence-penalty", .number(SamplingRange.countPenalty), default: "0",
        "subtract from the logits of tokens that the answer has used")
    static let frequencyPenalty = Option(
        "frequency-penalty", .number(SamplingRange.countPenalty), default: "0",
        "subtract from a token's logit once for each use in the answer")
    static let seed = Option("seed", .seed, default: "0", "sampling seed")

    static let descriptions: [OptionDescription] = [
        temperature.description, topK.description, topP.description, minP.description,
        repetitionPenalty.description, presencePenalty.description, frequencyPenalty.description,
        seed.description,
    ]

    /// Those that a server takes for requests that do not say: what is not given here is theirs to say.
    static let defaults: [OptionDescription] = [
        temperature.description, topK.description, topP.description, minP.description,
    ]

    /// What was given of `defaults`.
    static func defaults(_ arguments: ParsedArguments) -> SamplingWish {
        SamplingWish(
            temperature: arguments[temperature].map { Float($0) }, topK: arguments[topK],
            topP: arguments[topP].map { Float($0) }, minP: arguments[minP].map { Float($0) })
    }

    /// What was given of all of them.
    static func wish(_ arguments: ParsedArguments) -> SamplingWish {
        var wish = defaults(arguments)
        wish.repetition = arguments[repetitionPenalty].map { Float($0) }
        wish.presence = Float(arguments[presencePenalty])
        wish.frequency = Float(arguments[frequencyPenalty])
        wish.seed = arguments[seed]
        return wish
    }
}
