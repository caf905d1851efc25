extension Hello: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        let low = try reader.integer("minor", UInt8.self)
        let high = try reader.integer("minor", UInt8.self)
        guard low <= high else {
            throw .badValue(reader.type, field: "minor", found: UInt64(high))
        }
        role = try reader.choice("role")
        name = try reader.text("name", limit: Limits.nameBytes)
        guard !name.isEmpty else { throw .badValue(reader.type, field: "name", found: 0) }
        incarnation = try reader.fixed("incarnation", 16)
        nonce = try reader.fixed("nonce", 32)
        software = try reader.text("software", limit: Limits.softwareBytes)
        minor = low...high
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(minor.lowerBound)
        writer.integer(minor.upperBound)
        writer.integer(role.rawValue)
        writer.text(name, limit: Limits.nameBytes)
        writer.fixed(incarnation, 16)
        writer.fixed(nonce, 32)
        writer.text(software, limit: Limits.softwareBytes)
    }
}

extension Challenge: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        minor = try reader.integer("minor")
        nonce = try reader.fixed("nonce", 32)
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(minor)
        writer.fixed(nonce, 32)
    }
}

extension Authentication: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        proof = try reader.fixed("proof", 32)
    }

    func write(to writer: inout ByteWriter) {
        writer.fixed(proof, 32)
    }
}

extension Rejection: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        code = try reader.choice("code")
        reason = try reader.text("reason", limit: Limits.reasonBytes)
        retryMilliseconds = try reader.integer("retry")
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(code.rawValue)
        writer.text(reason, limit: Limits.reasonBytes)
        writer.integer(retryMilliseconds)
    }
}

extension Ready: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        modelDigest = try reader.fixed("model digest", 32)
        dataDigest = try reader.fixed("data digest", 32)
        configurationDigest = try reader.fixed("configuration digest", 32)
        recipeDigest = try reader.fixed("recipe digest", 32)
        answerDigest = try reader.fixed("answer digest", 32)
        fingerprint = try reader.text("fingerprint", limit: Limits.fingerprintBytes)
        threads = try reader.integer("threads")
        parameterVersion = try reader.integer("parameter version")
        parameterDigest = try reader.fixed("parameter digest", 32)
        let count = try reader.count("held", limit: Limits.heldWork, size: WorkKey.byteCount)
        held = []
        held.reserveCapacity(count)
        for _ in 0..<count { held.append(try WorkKey(from: &reader)) }
    }

    func write(to writer: inout ByteWriter) {
        writer.fixed(modelDigest, 32)
        writer.fixed(dataDigest, 32)
        writer.fixed(configurationDigest, 32)
        writer.fixed(recipeDigest, 32)
        writer.fixed(answerDigest, 32)
        writer.text(fingerprint, limit: Limits.fingerprintBytes)
        writer.integer(threads)
        writer.integer(parameterVersion)
        writer.fixed(parameterDigest, 32)
        writer.count(held.count)
        for key in held { key.write(to: &writer) }
    }
}

extension Welcome: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        heartbeatMilliseconds = try reader.integer("heartbeat")
        silenceMilliseconds = try reader.integer("silence")
    }

    func write(to writer: inout ByteWriter) {
        writer.integer(heartbeatMilliseconds)
        writer.integer(silenceMilliseconds)
    }
}
