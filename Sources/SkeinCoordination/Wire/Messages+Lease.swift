extension LeaseGrant: WireCodable {
    /// Bytes before the rows.
    static let headByteCount = WorkKey.byteCount + 4 + 1 + 4 + 8 + 32 + 4

    init(from reader: inout ByteReader) throws(WireError) {
        key = try WorkKey(from: &reader)
        attempt = try reader.integer("attempt")
        let coded: UInt8 = try reader.integer("kind")
        guard let kind = WorkKind(rawValue: coded & ~Self.pairsFlag) else {
            throw .badValue(reader.type, field: "kind", found: UInt64(coded))
        }
        let comparesAnswers = coded & Self.pairsFlag != 0
        guard !comparesAnswers || kind == .gradient || kind == .evaluation else {
            throw .badValue(reader.type, field: "kind", found: UInt64(coded))
        }
        step = try reader.integer("step")
        parameterVersion = try reader.integer("parameter version")
        parameterDigest = try reader.fixed("parameter digest", 32)
        switch kind {
        case .gradient, .evaluation:
            rows = try Self.rows(from: &reader)
            let pairs = comparesAnswers ? try PairLease(from: &reader, rows: rows.count) : nil
            work = kind == .gradient ? .gradient(pairs) : .evaluation(pairs)
        case .local:
            var local = try LocalLease(head: &reader)
            rows = try Self.rows(from: &reader)
            local.steps = try LocalLease.steps(from: &reader, rows: rows.count)
            work = .local(local)
        case .logProbabilities:
            rows = try Self.rows(from: &reader)
            work = .logProbabilities
        }
    }

    private static func rows(from reader: inout ByteReader) throws(WireError) -> [Row] {
        let rows = try Row.list(from: &reader)
        guard !rows.isEmpty else { throw .badValue(reader.type, field: "rows", found: 0) }
        return rows
    }

    func write(to writer: inout ByteWriter) {
        key.write(to: &writer)
        writer.integer(attempt)
        writer.integer(work.kind.rawValue | (work.pairs == nil ? 0 : Self.pairsFlag))
        writer.integer(step)
        writer.integer(parameterVersion)
        writer.fixed(parameterDigest, 32)
        if case .local(let local) = work { local.writeHead(to: &writer) }
        writer.count(rows.count)
        for row in rows { row.write(to: &writer) }
        switch work {
        case .gradient(let pairs), .evaluation(let pairs): pairs?.write(to: &writer)
        case .local(let local): LocalLease.write(local.steps, to: &writer)
        case .logProbabilities: break
        }
    }

    /// Set in the kind of a lease that a `PairLease` ends.
    private static let pairsFlag: UInt8 = 0x80
}

extension PairLease {
    /// Reads what follows the rows: two for each pair, and a reference for each of them or for none.
    fileprivate init(from reader: inout ByteReader, rows: Int) throws(WireError) {
        guard rows.isMultiple(of: 2) else {
            throw .badValue(reader.type, field: "rows", found: UInt64(rows))
        }
        tokenShare = Double(bitPattern: try reader.integer("token share"))
        guard tokenShare >= 0, tokenShare <= 1 else {
            throw .badValue(reader.type, field: "token share", found: tokenShare.bitPattern)
        }
        let count = try reader.count("references", limit: rows, size: 8)
        guard count == 0 || count == rows else {
            throw .badValue(reader.type, field: "references", found: UInt64(count))
        }
        references = []
        references.reserveCapacity(count)
        for _ in 0..<count {
            let value = Double(bitPattern: try reader.integer("reference"))
            guard value.isFinite, value <= 0 else {
                throw .badValue(reader.type, field: "reference", found: value.bitPattern)
            }
            references.append(value)
        }
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.integer(tokenShare.bitPattern)
        writer.count(references.count)
        for reference in references { writer.integer(reference.bitPattern) }
    }
}

extension LocalLease {
    /// Bytes of its fields before the rows.
    static let headByteCount = 32 + 1 + 8

    /// Reads all but the steps, which follow the rows.
    fileprivate init(head reader: inout ByteReader) throws(WireError) {
        state = try reader.fixed("state", 32)
        let wants = try reader.integer("wants state", UInt8.self)
        guard wants <= 1 else {
            throw .badValue(reader.type, field: "wants state", found: UInt64(wants))
        }
        wantsState = wants == 1
        scheduledSteps = try reader.integer("scheduled steps")
        steps = []
    }

    fileprivate func writeHead(to writer: inout ByteWriter) {
        writer.fixed(state, 32)
        writer.integer(UInt8(wantsState ? 1 : 0))
        writer.integer(scheduledSteps)
    }

    /// Reads how `rows` rows are cut into steps and micro-batches, none of them empty.
    static func steps(from reader: inout ByteReader, rows: Int) throws(WireError) -> [[Int]] {
        let count = try reader.count("steps", limit: rows, size: 8)
        var left = rows
        var steps: [[Int]] = []
        steps.reserveCapacity(count)
        for _ in 0..<count {
            let parts = try reader.count("micro-batches", limit: left, size: 4)
            guard parts > 0 else {
                throw .badValue(reader.type, field: "micro-batches", found: 0)
            }
            var step: [Int] = []
            for _ in 0..<parts {
                let size = Int(try reader.integer("micro-batch", UInt32.self))
                guard size > 0, size <= left else {
                    throw .badValue(reader.type, field: "micro-batch", found: UInt64(size))
                }
                left -= size
                step.append(size)
            }
            steps.append(step)
        }
        guard left == 0 else {
            throw .badValue(reader.type, field: "steps", found: UInt64(count))
        }
        return steps
    }

    static func write(_ steps: [[Int]], to writer: inout ByteWriter) {
        writer.count(steps.count)
        for step in steps {
            writer.count(step.count)
            for size in step { writer.count(size) }
        }
    }
}

extension StateRequest: WireCodable {
    init(from reader: inout ByteReader) throws(WireError) {
        key = try WorkKey(from: &reader)
    }

    func write(to writer: inout ByteWriter) {
        key.write(to: &writer)
    }
}

extension StateReplay: WireCodable {
    /// Bytes of its fields before state, parameters and rounds, and their counts.
    package static let headByteCount = WorkKey.byteCount + 4 + 8 + 8 + 3 * 4
    /// The most bytes of a round, besides its average.
    package static let roundBytes = Limits.leaseBytes + 4

    init(from reader: inout ByteReader) throws(WireError) {
        key = try WorkKey(from: &reader)
        round = try reader.integer("round")
        stepsDone = try reader.integer("steps done")
        scheduledSteps = try reader.integer("scheduled steps")
        state = try reader.bytes("state")
        outer = try reader.bytes("parameters")
        // Empty lists of rows and steps, and an average.
        let count = try reader.count("rounds", limit: Limits.replayedRounds, size: 12)
        rounds = []
        rounds.reserveCapacity(count)
        for _ in 0..<count {
            let rows = try LeaseGrant.Row.list(from: &reader)
            let steps = try LocalLease.steps(from: &reader, rows: rows.count)
            rounds.append(Round(rows: rows, steps: steps, average: try reader.bytes("average")))
        }
    }

    func write(to writer: inout ByteWriter) {
        key.write(to: &writer)
        writer.integer(round)
        writer.integer(stepsDone)
        writer.integer(scheduledSteps)
        writer.count(state.count)
        writer.raw(state)
        writer.count(outer.count)
        writer.raw(outer)
        writer.count(rounds.count)
        for round in rounds {
            writer.count(round.rows.count)
            for row in round.rows { row.write(to: &writer) }
            LocalLease.write(round.steps, to: &writer)
            writer.count(round.average.count)
            writer.raw(round.average)
        }
    }
}

extension LeaseGrant.Row {
    /// One token, no target.
    static let leastByteCount = 4 + 4 + 4 + 4

    /// Reads the rows of a lease.
    static func list(from reader: inout ByteReader) throws(WireError) -> [LeaseGrant.Row] {
        let count = try reader.count("rows", limit: Limits.leasedRows, size: leastByteCount)
        var rows: [LeaseGrant.Row] = []
        rows.reserveCapacity(count)
        var tokens = 0
        for _ in 0..<count {
            let row = try LeaseGrant.Row(from: &reader, limit: Limits.leasedTokens - tokens)
            tokens += row.ids.count
            rows.append(row)
        }
        return rows
    }

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
