import SkeinInference
import SkeinText

/// Where the tokens of a prompt that is echoed and of its answer stand in their text, in characters.
struct AnswerOffsets: Sendable {
    private var prompt: TokenOffsets
    private var answer: TokenOffsets
    /// Tokens at the beginning of the prompt that its text does not show.
    private var hidden: Int

    init(_ tokenizer: Tokenizer, echo: AnswerFormat.Echo) {
        prompt = TokenOffsets(tokenizer)
        answer = TokenOffsets(
            tokenizer, skippingSpecialTokens: true, from: echo.text.unicodeScalars.count)
        hidden = echo.hiddenTokens
    }

    /// The offsets of the next tokens of the prompt, and of those of the answer.
    mutating func next(prompt: [TokenRecord], answer: [TokenRecord]) -> [Int] {
        var offsets: [Int] = []
        for record in prompt {
            if hidden > 0 {
                hidden -= 1
                offsets.append(self.prompt.here)
            } else {
                offsets.append(self.prompt.offset(of: record.token))
            }
        }
        for record in answer { offsets.append(self.answer.offset(of: record.token)) }
        return offsets
    }
}
