import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinText

/// Tokens as they stand in log-probabilities.
struct TokenNames: Sendable {
    let tokenizer: Tokenizer

    /// The token's text; one that is not whole characters is named by its bytes, as OpenAI has it.
    func name(_ token: Int32) -> String {
        let bytes = tokenizer.bytes(of: token)
        if bytes.isEmpty { return tokenizer.piece(token) ?? "" }
        return String(validating: bytes, as: UTF8.self)
            ?? "bytes:"
            + bytes.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// OpenAI's `logprobs` of a chat's answer.
    ///
    /// - Parameters:
    ///   - records: in the order in which they stand in the answer.
    ///   - count: of the likeliest tokens. Where a form left no choice there is one, the token itself:
    ///     clients take the first of them.
    /// - Returns: an object.
    func chat(_ records: [TokenRecord], top count: Int) -> JSONValue {
        func entry(_ token: Int32, _ logprob: Float?) -> [(String, JSONValue)] {
            [
                ("token", .text(name(token))), ("logprob", number(logprob)),
                ("bytes", .list(tokenizer.bytes(of: token).map { .integer(Int($0)) })),
            ]
        }
        return .fields([
            (
                "content",
                .list(
                    records.map { record in
                        let own = entry(record.token, record.logprob)
                        let isForced = count > 0 && record.top.isEmpty && record.logprob != nil
                        let top =
                            isForced ? [own] : record.top.map { entry($0.token, $0.logprob) }
                        return .fields(
                            own + [("top_logprobs", .list(top.map { .fields($0) }))])
                    })
            ), ("refusal", .null),
        ])
    }

    /// OpenAI's `logprobs` of a completion.
    ///
    /// - Parameters:
    ///   - records: in the order in which they stand in the text.
    ///   - count: of the likeliest tokens; the token itself is always among them.
    ///   - offsets: where they stand in the text.
    /// - Returns: an object.
    func completion(
        _ records: [TokenRecord], top count: Int, offsets: [Int]
    ) -> JSONValue {
        let top: JSONValue =
            count == 0
            ? .null
            : .list(
                records.map { record in
                    guard let own = record.logprob else { return .null }
                    var fields: [(String, JSONValue)] = []
                    let all =
                        record.top.contains { $0.token == record.token }
                        ? record.top : record.top + [.init(token: record.token, logprob: own)]
                    for candidate in all {
                        let name = name(candidate.token)
                        // The likelier of two tokens with one name counts.
                        if fields.contains(where: { $0.0 == name }) { continue }
                        fields.append((name, number(candidate.logprob)))
                    }
                    return .fields(fields)
                })
        return .fields([
            ("tokens", .list(records.map { .text(name($0.token)) })),
            ("token_logprobs", .list(records.map { number($0.logprob) })),
            ("top_logprobs", top), ("text_offset", .list(offsets.map { .integer($0) })),
        ])
    }

    /// OpenAI writes -9999 for what is impossible; JSON has no infinity.
    private func number(_ logprob: Float?) -> JSONValue {
        guard let logprob else { return .null }
        return .decimal(logprob.isFinite ? Double(logprob) : -9999)
    }
}
