extension LeaseGrant: WireCodable {
    /// Bytes before the rows.
    static let headByteCount = WorkKey.byteCount + 4 + 1 + 4 + 8 + 4

    init(from reader: inout ByteReader) throws(WireError) {
        key = try WorkKey(from: &reader)
        attempt = try reader.integer("attempt")
        kind = try reader.choice("kind")
        step = try reader.integer("step")
        parameterVersion = try reader.integer("parameter version")
        let count = try reader.count(
            "rows", limit: Limits.leasedRows, size: Row.leastByteCount)
        guard count > 0 else { throw .badValue(reader.type, field: "rows", found: 0) }
        rows = []
        rows.reserveCapacity(count)
        var tokens = 0
        for _ in 0..<count {
            let row = try Row(from: &reader, limit: Limits.leasedTokens - tokens)
            tokens += row.ids.count
            rows.append(row)
        }
    }

    func write(to writer: inout ByteWriter) {
        key.write(to: &writer)
        writer.integer(attempt)
        writer.integer(kind.rawValue)
        writer.integer(step)
        writer.integer(parameterVersion)
        writer.count(rows.count)
        for row in rows { row.write(to: &writer) }
    }
}

extension LeaseGrant.Row {
    /// One token, no target.
    static let leastByteCount = 4 + 4 + 4 + 4

    /// Reads a row with at most `limit` tokens.
    init(from reader: inout ByteReader, limit: Int) throws(WireError) {
        number = try reader.integer("row number")
        let count = try reader.count("tokens", limit: limit, size: 4)
        guard count > 0 else { throw .badValue(reader.type, field: "tokens", found: 0) }
        ids = []
        ids.reserveCapacity(count)
        for _ in 0..<count {
            let id = try reader.integer("token", Int32.self)
            guard id >= 0 else {
                throw .badValue(
                    reader.type, field: "token", found: UInt64(UInt32(bitPattern: id)))
            }
            ids.append(id)
        }
        // Ranges are disjoint and have at least one token each, so there are fewer than tokens.
        let ranges = try reader.count("targets", limit: count - 1, size: 8)
        targets = []
        targets.reserveCapacity(ranges)
        var border = 1
        for _ in 0..<ranges {
            let start = Int(try reader.integer("target", UInt32.self))
            let end = Int(try reader.integer("target", UInt32.self))
            guard border <= start, start < end, end <= count else {
                throw .badValue(reader.type, field: "target", found: UInt64(start))
            }
            targets.append(start..<end)
            border = end
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.reserve(12 + 4 * ids.count + 8 * targets.count)
        writer.integer(number)
        writer.count(ids.count)
        for id in ids { writer.integer(id) }
        writer.count(targets.count)
        for range in targets {
            writer.count(range.lowerBound)
            writer.count(range.upperBound)
        }
    }
}
