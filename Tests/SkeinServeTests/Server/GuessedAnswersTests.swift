import SkeinInference
import Testing

@testable import SkeinServe

/// Answers whose tokens are guessed ahead.
@Suite struct GuessedAnswersTests {
    @Test("guesses change no answer, and some are right where an answer repeats itself")
    func exact() throws {
        let fields =
            #""prompt":"the in the in the in","max_tokens":300,"ignore_eos":true,"temperature":"#
        var said: [[String]] = []
        for guesses in [false, true] {
            try ServeCase.run {
                $0.guesses = guesses
            } with: { server in
                said.append(
                    try server.complete(fields + "0").texts
                        + server.complete(fields + #"0.3,"seed":1"#).texts
                        + server.complete(fields + #"0,"presence_penalty":0.1"#).texts)
                let figures = server.server.figures
                #expect((figures.rightGuesses > 20) == guesses)
                #expect(figures.rightGuesses <= figures.guessedTokens)
            }
        }
        #expect(said[0] == said[1])
    }
}
