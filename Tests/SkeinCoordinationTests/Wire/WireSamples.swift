import SkeinCoordination

/// Messages with random contents, every field anywhere in its range.
extension Message {
    static func random(_ type: MessageType, using random: inout WireRandom) -> Message {
        switch type {
        case .hello: .hello(.random(using: &random))
        case .challenge:
            .challenge(Challenge(minor: random.integer(), nonce: random.bytes(32)))
        case .authentication: .authentication(Authentication(proof: random.bytes(32)))
        case .rejection:
            .rejection(
                Rejection(
                    code: .allCases[random.upTo(RejectCode.allCases.count - 1)],
                    reason: random.text(512), retryMilliseconds: random.integer()))
        case .offer: .offer(.random(using: &random))
        case .modelRequest:
            .modelRequest(ModelRequest(file: random.integer(), offset: random.next() >> 1))
        case .modelChunk:
            .modelChunk(
                ModelChunk(
                    file: random.integer(), offset: random.next() >> 1,
                    bytes: random.bytes(random.upTo(50))))
        case .ready: .ready(.random(using: &random))
        case .welcome:
            .welcome(
                Welcome(
                    heartbeatMilliseconds: random.integer(), silenceMilliseconds: random.integer()))
        case .status: .status(StatusReport(json: random.bytes(random.upTo(50))))
        case .statusRequest: .statusRequest
        case .leave:
            .leave(
                Leave(
                    reason: .allCases[random.upTo(Leave.Reason.allCases.count - 1)],
                    detail: random.text(512)))
        default: randomWork(type, using: &random)
        }
    }

    private static func randomWork(
        _ type: MessageType, using random: inout WireRandom
    ) -> Message {
        switch type {
        case .heartbeat:
            .heartbeat(
                Heartbeat(
                    computing: (0..<random.upTo(4)).map { _ in
                        .init(
                            key: .random(using: &random),
                            thousandths: UInt16(random.upTo(1000)))
                    }, residentBytes: random.integer(),
                    preparedBytes: random.integer()))
        case .parameters:
            .parameters(
                ParameterUpdate(
                    version: random.next() | 1, base: 0, digest: random.bytes(32),
                    payload: random.bytes(random.upTo(60))))
        case .parameterRequest: .parameterRequest(ParameterRequest(version: random.integer()))
        case .lease: .lease(.random(using: &random))
        case .cancellation: .cancellation(Cancellation(key: .random(using: &random)))
        case .result: .result(.random(using: &random))
        case .answer:
            .answer(
                ResultAnswer(
                    key: .random(using: &random), verdict: .allCases[random.upTo(3)],
                    detail: random.text(512)))
        case .stateRequest: .stateRequest(StateRequest(key: .random(using: &random)))
        case .stateReplay: .stateReplay(.random(using: &random))
        default: .statusRequest
        }
    }
}

extension WorkKey {
    static func random(using random: inout WireRandom) -> WorkKey {
        WorkKey(round: random.integer(), index: random.integer())
    }
}

extension Hello {
    static func random(using random: inout WireRandom) -> Hello {
        let low: UInt8 = random.integer()
        return Hello(
            minor: low...UInt8.random(in: low...255, using: &random),
            role: .allCases[random.upTo(1)], name: random.text(64, least: 1),
            incarnation: random.bytes(16), nonce: random.bytes(32), software: random.text(64))
    }
}

extension Offer {
    static func random(using random: inout WireRandom) -> Offer {
        let count = random.upTo(4)
        return Offer(
            proof: random.bytes(32), term: random.integer(), start: random.bytes(16),
            modelDigest: random.bytes(32),
            dataDigest: random.bytes(32), configurationDigest: random.bytes(32),
            recipeDigest: random.bytes(32), answerDigest: random.bytes(32),
            fingerprint: random.text(256), configuration: random.bytes(random.upTo(40)),
            longestRow: random.integer(),
            modelFiles: (0..<count).map { index in
                ModelFile(
                    name: count == 1 ? "" : "\(index)" + random.text(254),
                    byteCount: random.next() >> 4, digest: random.bytes(32))
            })
    }
}

extension Ready {
    static func random(using random: inout WireRandom) -> Ready {
        Ready(
            modelDigest: random.bytes(32), dataDigest: random.bytes(32),
            configurationDigest: random.bytes(32), recipeDigest: random.bytes(32),
            answerDigest: random.bytes(32),
            fingerprint: random.text(256),
            threads: random.integer(), parameterVersion: random.integer(),
            parameterDigest: random.bytes(32),
            held: (0..<random.upTo(5)).map { _ in .random(using: &random) })
    }
}

extension LeaseGrant {
    static func random(using random: inout WireRandom) -> LeaseGrant {
        let kind = WorkKind.allCases[random.upTo(3)]
        let comparesAnswers = (kind == .gradient || kind == .evaluation) && random.upTo(1) == 1
        let count = comparesAnswers ? 2 * (1 + random.upTo(1)) : 1 + random.upTo(3)
        let rows: [Row] = (0..<count).map { _ in .random(using: &random) }
        let pairs =
            comparesAnswers
            ? PairLease(
                tokenShare: Double(random.upTo(100)) / 100,
                references: random.upTo(1) == 1
                    ? rows.map { _ in -Double(random.upTo(1000)) / 8 } : []) : nil
        let work: Work =
            switch kind {
            case .gradient: .gradient(pairs)
            case .evaluation: .evaluation(pairs)
            case .local:
                .local(
                    LocalLease(
                        state: random.bytes(32), wantsState: random.upTo(1) == 1,
                        scheduledSteps: random.integer(),
                        steps: LocalLease.random(rows: rows.count, using: &random)))
            case .logProbabilities: .logProbabilities
            }
        return LeaseGrant(
            key: .random(using: &random), attempt: random.integer(), work: work,
            step: random.integer(), parameterVersion: random.integer(),
            parameterDigest: random.bytes(32), rows: rows)
    }
}

extension LocalLease {
    static func random(rows: Int, using random: inout WireRandom) -> [[Int]] {
        var left = rows
        var steps: [[Int]] = []
        while left > 0 {
            var step: [Int] = []
            repeat {
                let size = 1 + random.upTo(left - 1)
                step.append(size)
                left -= size
            } while left > 0 && random.upTo(1) == 1
            steps.append(step)
        }
        return steps
    }
}

extension StateReplay {
    static func random(using random: inout WireRandom) -> StateReplay {
        StateReplay(
            key: .random(using: &random), round: random.integer(), stepsDone: random.integer(),
            scheduledSteps: random.integer(), state: random.bytes(random.upTo(20)),
            outer: random.bytes(random.upTo(20)),
            rounds: (0..<random.upTo(3)).map { _ in
                let rows: [LeaseGrant.Row] = (0..<random.upTo(3)).map { _ in
                    .random(using: &random)
                }
                return Round(
                    rows: rows, steps: LocalLease.random(rows: rows.count, using: &random),
                    average: random.bytes(random.upTo(9)))
            })
    }
}

extension LeaseGrant.Row {
    static func random(using random: inout WireRandom) -> LeaseGrant.Row {
        let count = 1 + random.upTo(12)
        var targets: [Range<Int>] = []
        var border = 1
        while border < count, random.upTo(3) > 0 {
            let start = Int.random(in: border..<count, using: &random)
            let end = Int.random(in: start + 1...count, using: &random)
            targets.append(start..<end)
            border = end
        }
        return LeaseGrant.Row(
            number: random.integer(),
            ids: (0..<count).map { _ in Int32(truncatingIfNeeded: random.next() >> 33) },
            targets: targets)
    }
}

extension WorkResult {
    static func random(using random: inout WireRandom) -> WorkResult {
        let kind = WorkKind.allCases[random.upTo(2)]
        return WorkResult(
            key: .random(using: &random), attempt: random.integer(), kind: kind,
            tokens: random.integer(), lossTokens: random.integer(), correct: random.integer(),
            lossSum: Double.random(in: -1e9...1e9, using: &random), digest: random.bytes(32),
            inputs: random.bytes(32),
            payload: kind == .evaluation ? [] : random.bytes(random.upTo(60)))
    }
}
