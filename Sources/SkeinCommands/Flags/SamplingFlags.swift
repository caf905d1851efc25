import SkeinBasics
import SkeinModels

/// Options that say how the next token is picked.
enum SamplingFlags {
    static let temperature = Option(
        "temperature", .number(0...100), default: "0",
        "sampling temperature; 0 = always the most likely token")
    static let topK = Option(
        "top-k", .integer(0...1_048_576), default: "0",
        "sample from the K most likely tokens; 0 = all")
    static let topP = Option(
        "top-p", .number(above: 0, to: 1), default: "1",
        "sample from the most likely tokens that together have this probability")
    static let minP = Option(
        "min-p", .number(0...1), default: "0",
        "sample from tokens with at least this share of the largest probability")
    static let repetitionPenalty = Option(
        "repetition-penalty", .number(above: 0, to: 100), default: "1",
        "divide positive logits of tokens used so far, prompt included, by this; 1 = off")
    static let presencePenalty = Option(
        "presence-penalty", .number(-100...100), default: "0",
        "subtract from the logits of tokens that the answer has used")
    static let frequencyPenalty = Option(
        "frequency-penalty", .number(-100...100), default: "0",
        "subtract from a token's logit once for each use in the answer")
    static let seed = Option("seed", .seed, default: "0", "sampling seed")

    static let descriptions: [OptionDescription] = [
        temperature.description, topK.description, topP.description, minP.description,
        repetitionPenalty.description, presencePenalty.description, frequencyPenalty.description,
        seed.description,
    ]

    static func sampler(_ arguments: ParsedArguments) -> Sampler {
        Sampler(
            temperature: Float(arguments[temperature]), topK: arguments[topK],
            topP: Float(arguments[topP]), minP: Float(arguments[minP]),
            penalties: TokenPenalties(
                repetition: Float(arguments[repetitionPenalty]),
                presence: Float(arguments[presencePenalty]),
                frequency: Float(arguments[frequencyPenalty])),
            seed: arguments[seed])
    }
}
