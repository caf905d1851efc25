import SkeinBasics
import SkeinJSON
import SkeinRows
import SkeinText

/// A prompt that the model answers after each validation (`--sample-prompt`), so that people can
/// read what the run has learned. Nothing of the result depends on it.
package struct SamplePrompt: Sendable, Equatable {
    package let text: String
    /// The prompt as the run's rows begin: a user's turn in the chat template, or the text with what
    /// the prompt format puts behind it.
    package let ids: [Int32]
}

extension RowEncoder {
    /// The tokens after which a completion of `prompt` begins.
    ///
    /// - Throws: `RowError.noEndToken`; what the template throws.
    func promptIDs(_ prompt: String) throws -> [Int32] {
        if format == .chat, let render = encoder.renderChat {
            let turns =
                SamplePromptText.conversation(in: prompt)
                ?? [ChatMessage(role: "user", content: prompt)]
            let chat = try encoder.prepareChat(turns, nil)
            return try encoder.encode(render(chat, chat.messages.count, true).text)
        }
        guard let end = encoder.endID else { throw RowError.noEndToken }
        let ids = try encoder.encodeWhole(prompt)
        return ids + (format == .eos && ids.last != end ? [end] : [])
    }

    /// The run's sample prompts, encoded.
    ///
    /// - Throws: `SamplePromptError`; `TokenizerError.noEmbedding`; as `promptIDs`.
    func samplePrompts(_ texts: [String], contextLength: Int) throws -> [SamplePrompt] {
        try texts.map { text in
            let ids = try promptIDs(text)
            guard !ids.isEmpty else { throw SamplePromptError.empty }
            guard ids.count < contextLength else {
                throw SamplePromptError.tooLong(tokens: ids.count, limit: contextLength)
            }
            do {
                try encoder.check(ids)
            } catch let error as TokenizerError {
                throw error.at("--sample-prompt")
            }
            return SamplePrompt(text: text, ids: ids)
        }
    }
}

/// The texts of one or several `--sample-prompt`, as one option value.
package enum SamplePromptText {
    /// Reads one prompt as it is, or a JSON list of several; nil for none, too many or too long ones.
    package static func prompts(of text: String) -> [String]? {
        let prompts = list(text) ?? [text]
        guard (1...Limits.samplePrompts).contains(prompts.count),
            prompts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= Limits.samplePromptBytes })
        else { return nil }
        return prompts
    }

    /// The messages of a prompt that is a JSON list of them, such as one of the system's and one of the
    /// user's; nil for a text.
    static func conversation(in prompt: String) -> [ChatMessage]? {
        struct Message: Decodable {
            var role: String
            var content: String
        }
        guard prompt.hasPrefix("[") else { return nil }
        do {
            let messages = try JSONTree.decode([Message].self, from: prompt.utf8)
            return messages.isEmpty
                ? nil : messages.map { ChatMessage(role: $0.role, content: $0.content) }
        } catch {
            // A text that begins with a bracket.
            return nil
        }
    }

    /// The text that `prompts` reads back.
    package static func text(of prompts: [String]) -> String {
        if prompts.count == 1, list(prompts[0]) == nil { return prompts[0] }
        return JSONValue.list(prompts.map { .text($0) }).written
    }

    /// One text of two that are accepted.
    static func joined(_ first: String, _ second: String) throws(JoinProblem) -> String {
        let prompts = (prompts(of: first) ?? []) + (prompts(of: second) ?? [])
        guard prompts.count <= Limits.samplePrompts else {
            throw .tooMany(most: Limits.samplePrompts)
        }
        return text(of: prompts)
    }

    private static func list(_ text: String) -> [String]? {
        guard text.hasPrefix("[") else { return nil }
        do {
            return try JSONTree.decode([String].self, from: text.utf8)
        } catch {
            // A prompt that only begins with a bracket.
            return nil
        }
    }
}
