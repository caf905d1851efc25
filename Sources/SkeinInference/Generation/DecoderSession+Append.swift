import SkeinModels
import SkeinTensors

/// How a session appends tokens, in blocks of a prompt or in rows of an answer.
extension DecoderSession {
    /// `observe` gets the last token's residual stream at every stage.
    func append(
        _ tokens: [Int32], as reading: Reading, check: () throws -> Void,
        observe: (UnsafePointer<Float>) -> Void = { _ in }
    ) rethrows {
        switch reading {
        case .prompt: try appendPrompt(tokens, check: check, observe: observe)
        case .answer: try appendAnswer(tokens, check: check, observe: observe) { _, _ in }
        }
    }

    private func requireRoom(for tokens: [Int32]) {
        precondition(!tokens.isEmpty && tokens.count <= room, "tokens fit the cache")
        let limit = model.vocabularySize
        precondition(
            tokens.allSatisfy { $0 >= 0 && Int($0) < limit }, "the model has these tokens")
    }

    private func appendPrompt(
        _ tokens: [Int32], check: () throws -> Void,
        observe: (UnsafePointer<Float>) -> Void = { _ in }
    ) rethrows {
        requireRoom(for: tokens)
        // What was to be read again when a check ended it comes first.
        var all = unread + tokens
        if sequence.isTurnedOtherwise(before: all.count) { all = sequence.restart() + all }
        sequence.plan(all.count)
        var rest = all[...]
        // Whatever ends this: the session still has the tokens before these.
        defer { unread = Array(rest.dropLast(tokens.count)) }
        while !rest.isEmpty {
            let block = rest.prefix(pass.blockTokens(after: sequence.count))
            try pass.readPrompt(
                block, of: sequence, wantsLogits: block.endIndex == rest.endIndex, check: check,
                observe: observe)
            rest = rest[block.endIndex...]
            if let prefixes { sequence.store(in: prefixes) }
        }
    }

    /// `wantsEach`: all logits are computed and given to `each`, not only those of the last token.
    func appendAnswer(
        _ tokens: [Int32], check: () throws -> Void,
        observe: (UnsafePointer<Float>) -> Void = { _ in }, wantsEach: Bool = false,
        each: (Int, UnsafeBufferPointer<Float>) throws -> Void
    ) rethrows {
        requireRoom(for: tokens)
        var rest = tokens[...]
        while !rest.isEmpty {
            let rows = unread.isEmpty ? sequence.rowsTurnedAlike(rest, most: pass.rows) : []
            if rows.isEmpty {
                // From this token on the row is turned otherwise: all of it is read again.
                try appendPrompt([rest.removeFirst()], check: check, observe: observe)
                if wantsEach { try each(rest.startIndex - 1, pass.logits(0)) }
                continue
            }
            rest = rest[rows.endIndex...]
            sequence.plan(rows.count)
            let wanted = wantsEach ? Array(0..<rows.count) : rest.isEmpty ? [rows.count - 1] : []
            try pass.readRows(
                RowBatch([(sequence, rows)]), wanted: wanted, check: check, observe: observe)
            guard wantsEach else { continue }
            for (i, index) in rows.indices.enumerated() { try each(index, pass.logits(i)) }
        }
    }
}
