import Foundation

// The snapshot as JSON: its own facts in snake case, and four that follow from them, for readers
// that only want text: `run.phase`, `why`, `brief` and `waiting_seconds`. What is not known is null.
//
// This is one of three places with Foundation's coders and not SkeinJSON; the others are
// `FetchMessage` and `MLflowState`. Skein's own programs write and read all three, the compiler makes
// their coding, and no number is compared. The public API takes Foundation's values, too.
extension RunSnapshot: Codable {
    /// One line.
    ///
    /// - Throws: `EncodingError` for a number that is not finite.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Reads what another process has sent.
    ///
    /// - Parameter json: of a length that the caller has bounded. Unknown fields are ignored.
    /// - Throws: `DecodingError` that names the field.
    package init(json: [UInt8]) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(RunSnapshot.self, from: Data(json))
    }

    private enum CodingKeys: CodingKey {
        case run, round, waiting, waitingSeconds, why, brief, workerCount, workers, paused, counters
        case totals, absent, process
    }

    private enum RunKeys: CodingKey {
        case output, term, step, stepCount, loss, tokensPerSecond, phase
        case epochCount, epoch, learningRate, gradientNorm, validationLoss, bestValidationLoss
        case bestStep, tokens, lossTokens, microBatches, etaSeconds, elapsedSeconds
        case otherEnginesFromStep, startValidationLoss, isImprovement
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let run = try container.nestedContainer(keyedBy: RunKeys.self, forKey: .run)
        self.run = Progress()
        self.run.output = try run.decode(String.self, forKey: .output)
        self.run.term = try run.decodeIfPresent(Int.self, forKey: .term)
        self.run.step = try run.decode(Int.self, forKey: .step)
        self.run.stepCount = try run.decode(Int.self, forKey: .stepCount)
        self.run.loss = try run.decodeIfPresent(Double.self, forKey: .loss)
        self.run.tokensPerSecond = try run.decodeIfPresent(Double.self, forKey: .tokensPerSecond)
        try Self.readNewer(run, into: &self.run)
        round = try container.decodeIfPresent(RoundProgress.self, forKey: .round)
        waiting = try container.decode(Waiting.self, forKey: .waiting)
        workerCount = try container.decode(Int.self, forKey: .workerCount)
        workers = try container.decode([Worker].self, forKey: .workers)
        paused = try container.decode([Paused].self, forKey: .paused)
        counters = try container.decode(RoundCounters.self, forKey: .counters)
        // Coordinators of earlier versions do not tell these.
        totals = try container.decodeIfPresent(RoundCounters.self, forKey: .totals) ?? counters
        absent = try container.decodeIfPresent([Absent].self, forKey: .absent) ?? []
        process = try container.decodeIfPresent(Process.self, forKey: .process)
    }

    /// Fields of `run` that coordinators of earlier versions do not tell.
    private static func readNewer(
        _ fields: KeyedDecodingContainer<RunKeys>, into run: inout Progress
    ) throws {
        func number(_ key: RunKeys) throws -> Double? {
            try fields.decodeIfPresent(Double.self, forKey: key)
        }
        func count(_ key: RunKeys) throws -> Int? {
            try fields.decodeIfPresent(Int.self, forKey: key)
        }
        run.epochCount = try count(.epochCount)
        run.epoch = try count(.epoch)
        run.learningRate = try number(.learningRate)
        run.gradientNorm = try number(.gradientNorm)
        run.validationLoss = try number(.validationLoss)
        run.bestValidationLoss = try number(.bestValidationLoss)
        run.bestStep = try count(.bestStep)
        run.startValidationLoss = try number(.startValidationLoss)
        run.isImprovement = try fields.decodeIfPresent(Bool.self, forKey: .isImprovement)
        run.tokens = try count(.tokens) ?? 0
        run.lossTokens = try count(.lossTokens) ?? 0
        run.microBatches = try count(.microBatches) ?? 0
        run.etaSeconds = try number(.etaSeconds)
        run.elapsedSeconds = try number(.elapsedSeconds)
        run.otherEnginesFromStep = try count(.otherEnginesFromStep)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var run = container.nestedContainer(keyedBy: RunKeys.self, forKey: .run)
        try run.encode(self.run.output, forKey: .output)
        try run.encode(self.run.term, forKey: .term)
        try run.encode(self.run.step, forKey: .step)
        try run.encode(self.run.stepCount, forKey: .stepCount)
        let numbers: [(RunKeys, Double?)] = [
            (.loss, self.run.loss), (.tokensPerSecond, self.run.tokensPerSecond),
            (.learningRate, self.run.learningRate), (.gradientNorm, self.run.gradientNorm),
            (.validationLoss, self.run.validationLoss),
            (.bestValidationLoss, self.run.bestValidationLoss),
            (.startValidationLoss, self.run.startValidationLoss),
            (.etaSeconds, self.run.etaSeconds), (.elapsedSeconds, self.run.elapsedSeconds),
        ]
        // JSON has only finite numbers.
        for (key, number) in numbers {
            try run.encode(number.flatMap { $0.isFinite ? $0 : nil }, forKey: key)
        }
        try run.encode(self.run.epochCount, forKey: .epochCount)
        try run.encode(self.run.epoch, forKey: .epoch)
        try run.encode(self.run.bestStep, forKey: .bestStep)
        try run.encode(self.run.isImprovement, forKey: .isImprovement)
        try run.encode(self.run.tokens, forKey: .tokens)
        try run.encode(self.run.lossTokens, forKey: .lossTokens)
        try run.encode(self.run.microBatches, forKey: .microBatches)
        try run.encode(self.run.otherEnginesFromStep, forKey: .otherEnginesFromStep)
        try run.encode(phase, forKey: .phase)
        try container.encode(round, forKey: .round)
        try container.encode(waiting, forKey: .waiting)
        try container.encode(waiting.seconds, forKey: .waitingSeconds)
        try container.encode(waiting.sentence, forKey: .why)
        try container.encode(waiting.brief, forKey: .brief)
        try container.encode(workerCount, forKey: .workerCount)
        try container.encode(workers, forKey: .workers)
        try container.encode(paused, forKey: .paused)
        try container.encode(counters, forKey: .counters)
        try container.encode(totals, forKey: .totals)
        try container.encode(absent, forKey: .absent)
        try container.encode(process, forKey: .process)
    }
}

// The fields of `work` are the worker's own in JSON, and are left out while it prepares.
extension RunSnapshot.Worker: Codable {
    private enum CodingKeys: CodingKey {
        case name, address, state, lastHeardSeconds, preparedBytes
        case threads, leaseCount, leases, tokensPerSecond, accepted, refused, losses
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        address = try container.decode(String.self, forKey: .address)
        state = try container.decode(State.self, forKey: .state)
        lastHeardSeconds = try container.decode(Double.self, forKey: .lastHeardSeconds)
        preparedBytes = try container.decodeIfPresent(UInt64.self, forKey: .preparedBytes)
        guard state != .preparing else { return }
        work = RunSnapshot.Work(
            threads: try container.decode(Int.self, forKey: .threads),
            leaseCount: try container.decode(Int.self, forKey: .leaseCount),
            leases: try container.decode([RunSnapshot.Lease].self, forKey: .leases),
            tokensPerSecond: try container.decodeIfPresent(Double.self, forKey: .tokensPerSecond),
            accepted: try container.decode(Int.self, forKey: .accepted),
            refused: try container.decode(Int.self, forKey: .refused),
            losses: try container.decodeIfPresent(Int.self, forKey: .losses) ?? 0)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(address, forKey: .address)
        try container.encode(state, forKey: .state)
        try container.encode(lastHeardSeconds, forKey: .lastHeardSeconds)
        try container.encodeIfPresent(preparedBytes, forKey: .preparedBytes)
        guard let work else { return }
        try container.encode(work.threads, forKey: .threads)
        try container.encode(work.leaseCount, forKey: .leaseCount)
        try container.encode(work.leases, forKey: .leases)
        try container.encode(work.tokensPerSecond, forKey: .tokensPerSecond)
        try container.encode(work.accepted, forKey: .accepted)
        try container.encode(work.refused, forKey: .refused)
        try container.encode(work.losses, forKey: .losses)
    }
}
