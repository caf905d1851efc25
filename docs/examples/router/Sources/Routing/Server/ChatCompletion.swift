import Foundation

/// The body of a request to `/v1/chat/completions`.
struct ChatCompletionRequest: Encodable {
    var model: String
    var messages: [Message]
    var maximumTokens: Int
    var stream = true

    private enum CodingKeys: String, CodingKey {
        case model
        case messages
        case maximumTokens = "max_tokens"
        case stream
    }
}

/// One event of the answer.
struct ChatCompletionChunk: Decodable {
    struct Choice: Decodable {
        struct Delta: Decodable {
            var content: String?
        }
        var delta: Delta?
        var finishReason: String?

        private enum CodingKeys: String, CodingKey {
            case delta
            case finishReason = "finish_reason"
        }
    }
    struct Trouble: Decodable {
        var message: String
    }
    var choices: [Choice]?
    var error: Trouble?
}

/// Puts the pieces of an answer together from what a server sends.
struct CompletionReader {
    /// Bytes of an answer's text.
    let limit: Int
    private var events = EventReader()
    private var bytes = 0
    private var sent = 0
    /// Whether the answer is complete, whatever the connection does.
    private(set) var hasEnded = false
    /// Whether its last piece has come: the connection may end.
    private var isFinished = false

    /// Bytes that an answer may have in any case.
    private static let aroundLimit = 1 << 20

    init(limit: Int) {
        self.limit = limit
    }

    /// - Throws: `ProviderFailure`.
    mutating func read(_ data: Data) throws(ProviderFailure) -> [String] {
        // What is around a piece of text, comments and empty pieces have an end, too.
        sent += data.count
        guard sent <= Self.aroundLimit + 16 * limit else { throw .endless(bytes: sent) }
        var pieces: [String] = []
        for event in try events.read(data) where !hasEnded {
            if event == "[DONE]" {
                hasEnded = true
                continue
            }
            let chunk: ChatCompletionChunk
            do {
                chunk = try JSONDecoder().decode(ChatCompletionChunk.self, from: Data(event.utf8))
            } catch {
                throw .malformed(event.clipped)
            }
            if let error = chunk.error { throw .unavailable(error.message.clipped) }
            guard let choice = chunk.choices?.first else { continue }
            if choice.finishReason == "content_filter" {
                throw .refused("the server's filter has stopped the answer")
            }
            if let reason = choice.finishReason, !reason.isEmpty { isFinished = true }
            guard let piece = choice.delta?.content, !piece.isEmpty else { continue }
            bytes += piece.utf8.count
            guard bytes <= limit else { throw .endless(bytes: limit) }
            pieces.append(piece)
        }
        return pieces
    }

    /// The connection has ended.
    ///
    /// - Throws: `ProviderFailure.cutOff` if the answer had not.
    func end() throws(ProviderFailure) {
        guard hasEnded || isFinished else { throw .cutOff }
    }

    /// What a server says instead of an answer.
    static func words(of body: Data) -> String {
        struct Body: Decodable {
            var error: ChatCompletionChunk.Trouble
        }
        if let body = try? JSONDecoder().decode(Body.self, from: body) {
            return body.error.message.clipped
        }
        return String(decoding: body, as: UTF8.self).clipped
    }
}

extension String {
    /// Its beginning in one line, for an error.
    var clipped: String {
        let line = String(
            unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
                .prefix(300))
        return line.isEmpty ? "(nothing)" : line
    }
}
