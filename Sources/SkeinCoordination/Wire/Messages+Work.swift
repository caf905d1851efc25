extension WorkKey: WireCodable {
    static let byteCount = 8 + 4

    init(from reader: inout ByteReader) throws(WireError) {
        round = try reader.integer("round")
        index = try reader.integer("index")
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(round)
        writer.integer(index)
    }
}

extension Cancellation: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        key = try WorkKey(from: &reader)
    }

    func write(to writer: inout ByteWriter) {
        key.write(to: &writer)
    }
}

extension WorkResult: WireCodable {
    /// Bytes before the payload.
    static let headByteCount = WorkKey.byteCount + 4 + 1 + 3 * 4 + 8 + 32 + 32

    init(from reader: inout ByteReader) throws(WireError) {
        key = try WorkKey(from: &reader)
        attempt = try reader.integer("attempt")
        kind = try reader.choice("kind")
        tokens = try reader.integer("tokens")
        lossTokens = try reader.integer("loss tokens")
        correct = try reader.integer("correct")
        lossSum = Double(bitPattern: try reader.integer("loss sum"))
        digest = try reader.fixed("digest", 32)
        inputs = try reader.fixed("inputs", 32)
        // Whatever an evaluation has left are trailing bytes.
        payload = kind == .evaluation ? [] : reader.rest()
    }

    func write(to writer: inout ByteWriter) {
        writer.reserve(Self.headByteCount)
        key.write(to: &writer)
        writer.integer(attempt)
        writer.integer(kind.rawValue)
        writer.integer(tokens)
        writer.integer(lossTokens)
        writer.integer(correct)
        writer.integer(lossSum.bitPattern)
        writer.fixed(digest, 32)
        writer.fixed(inputs, 32)
        precondition(kind != .evaluation || payload.isEmpty)
        writer.rest(payload)
    }
}

extension ResultAnswer: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        key = try WorkKey(from: &reader)
        verdict = try reader.choice("verdict")
        detail = try reader.text("detail", limit: Limits.reasonBytes)
    }

    func write(to writer: inout ByteWriter) {
        key.write(to: &writer)
        writer.integer(verdict.rawValue)
        writer.text(detail, limit: Limits.reasonBytes)
    }
}

extension ParameterUpdate: WireCodable {
    /// Bytes before the payload.
    static let headByteCount = 8 + 8 + 32

    init(from reader: inout ByteReader) throws(WireError) {
        version = try reader.integer("version")
        base = try reader.integer("base")
        guard base < version else {
            throw .badValue(reader.type, field: "base", found: base)
        }
        digest = try reader.fixed("digest", 32)
        payload = reader.rest()
    }

    func write(to writer: inout ByteWriter) {
        writer.reserve(Self.headByteCount)
        writer.integer(version)
        writer.integer(base)
        writer.fixed(digest, 32)
        writer.rest(payload)
    }
}

extension ParameterRequest: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        version = try reader.integer("version")
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(version)
    }
}

extension Heartbeat: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        residentBytes = try reader.integer("resident bytes")
        preparedBytes = try reader.integer("prepared bytes")
        let count = try reader.count(
            "computing", limit: Limits.heldWork, size: WorkKey.byteCount + 2)
        computing = []
        computing.reserveCapacity(count)
        for _ in 0..<count {
            let key = try WorkKey(from: &reader)
            let thousandths = try reader.integer("thousandths", UInt16.self)
            guard thousandths <= 1000 else {
                throw .badValue(reader.type, field: "thousandths", found: UInt64(thousandths))
            }
            computing.append(Progress(key: key, thousandths: thousandths))
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(residentBytes)
        writer.integer(preparedBytes)
        writer.count(computing.count)
        for progress in computing {
            progress.key.write(to: &writer)
            writer.integer(min(progress.thousandths, 1000))
        }
    }
}

extension Leave: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        reason = try reader.choice("reason")
        detail = try reader.text("detail", limit: Limits.reasonBytes)
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(reason.rawValue)
        writer.text(detail, limit: Limits.reasonBytes)
    }
}

extension StatusReport: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        guard reader.left <= Limits.statusBytes else {
            throw .overLimit(
                reader.type, field: "json", limit: Limits.statusBytes, found: reader.left)
        }
        json = reader.rest()
    }

    func write(to writer: inout ByteWriter) {
        writer.rest(json)
    }
}
