import SkeinGrammar
import SkeinText

/// Text, and the ways into calls and out of them.
extension ToolGuide {
    /// What begins a call without a marker.
    private static let bareBeginning = Array(#"{"name""#.utf8)

    /// Writes tokens, and then what comes after them.
    mutating func write(_ tokens: [Int32], then: Then) throws {
        queue = tokens
        guard tokens.isEmpty else {
            state = .forced(then)
            return
        }
        switch then {
        case .call:
            guard let grammar else { return }
            matcher = try GrammarMatcher(
                grammar, limit: limit - used - parts.tailCount, isWanted: isWanted)
            reader = CallReader()
            state = .call
        case .between:
            if isParallel, calls < ToolLimits.calls {
                state = .between
            } else {
                try write(parts.listEnd, then: .end)
            }
        case .end: state = .ended
        }
    }

    // MARK: - Text

    mutating func acceptFree(_ token: Int32) throws -> [Int32] {
        let bytes = tokenizer.bytes(of: token)
        if let end = scanner?.end(in: bytes) {
            if let tokens = try begin(with: token, bytes, markerEnd: end) { return tokens }
            // Less and less is left.
            scanner = nil
        }
        held.add(token)
        emit(held.free(holding: scanner?.matched ?? 0, keepsSpace: scanner != nil))
        used += 1
        return [token]
    }

    /// Begins a call whose marker ends in a token, after so many of its bytes; nil if none fits.
    private mutating func begin(
        with token: Int32, _ bytes: [UInt8], markerEnd: Int
    ) throws -> [Int32]? {
        let after = Array(format.afterMarker.utf8)
        var common = 0
        while common < after.count, markerEnd + common < bytes.count,
            bytes[markerEnd + common] == after[common]
        {
            common += 1
        }
        let kept = Array(bytes[..<(markerEnd + common)])
        guard let tokens = kept.count == bytes.count ? [token] : parts.plainTokens(of: kept),
            let forced = parts.tokens(of: after[common...]),
            try fits(after: tokens.count + forced.count)
        else { return nil }
        for token in tokens { held.add(token) }
        emit(held.textBefore(format.marker.utf8 + after[..<common]))
        scanner = nil
        used += tokens.count
        try write(forced, then: .call)
        return tokens
    }

    /// The answer so far is the beginning of a call without a marker, and the token may go on with it.
    mutating func acceptBare(_ token: Int32) throws -> [Int32] {
        guard var matcher else { return [token] }
        let bytes = tokenizer.bytes(of: token)
        if beginsWithCalls {
            if !bytes.isEmpty, try matcher.allows(token) {
                try matcher.accept(token)
                self.matcher = matcher
                used += 1
                var reader = CallReader()
                if reader.read(matcher.bytes).name == nil {
                    held.add(token)
                } else {
                    try beginBare()
                }
                return [token]
            }
            return try acceptText(token)
        }
        let beginning = Self.bareBeginning
        let written = matcher.bytes + bytes
        if written.starts(with: beginning) {
            var tokens = [token]
            if try !matcher.allows(token) {
                let rest = Array(beginning[matcher.bytes.count...])
                tokens = parts.plainTokens(of: rest) ?? []
            }
            if try matcher.take(tokens) {
                self.matcher = matcher
                used += tokens.count
                try beginBare()
                return tokens
            }
        } else if !bytes.isEmpty, beginning.starts(with: written), try matcher.allows(token) {
            try matcher.accept(token)
            self.matcher = matcher
            held.add(token)
            used += 1
            return [token]
        }
        return try acceptText(token)
    }

    /// What was held as the beginning of a call is one.
    private mutating func beginBare() throws {
        held.drop()
        scanner = nil
        reader = CallReader()
        state = .call
        try readCall(from: 0)
    }

    /// What was held as the beginning of a call is text.
    private mutating func acceptText(_ token: Int32) throws -> [Int32] {
        state = .free
        matcher = nil
        return try acceptFree(token)
    }

    mutating func emit(_ text: String) {
        guard !text.isEmpty else { return }
        if case .text(let before)? = events.last {
            events[events.count - 1] = .text(before + text)
        } else {
            events.append(.text(text))
        }
    }

    // MARK: - Calls

    /// Reads the bytes that the matcher has got since the last time.
    mutating func readCall(from start: Int? = nil) throws {
        guard let matcher else { return }
        let bytes = matcher.bytes[(start ?? reader.count)...]
        let (name, arguments) = reader.read(bytes)
        if let name {
            let id = CallID.make(request: idSeed, index: calls, style: format.idStyle)
            events.append(.callBegan(index: calls, id: id, name: name))
        }
        if !arguments.isEmpty {
            if case .arguments(calls, let before)? = events.last {
                events[events.count - 1] = .arguments(index: calls, before + arguments)
            } else {
                events.append(.arguments(index: calls, arguments))
            }
        }
        guard reader.isComplete else { return }
        calls += 1
        self.matcher = nil
        try write(parts.callEnd, then: .between)
    }
}

extension GrammarMatcher {
    /// Takes tokens if the grammar and the limit allow them all.
    fileprivate mutating func take(_ tokens: [Int32]) throws -> Bool {
        if tokens.isEmpty { return false }
        for token in tokens {
            guard try allows(token) else { return false }
            try accept(token)
        }
        return true
    }
}
