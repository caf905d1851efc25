import Foundation
import SkeinBasics
import SkeinCluster
import SkeinFormats
import SkeinTraining

/// What a report says of a run, read from its directory in bounded memory.
package struct ReportedRun: Sendable {
    /// The work of one worker.
    struct Worker: Sendable, Equatable {
        var name: String
        var microBatches = 0
        var tokens = 0
        /// Micro-batches that had been leased before to a worker that did not bring them.
        var again = 0
        var firstStep = 0
        var lastStep = 0
        /// Tokens in each part of the run, from its first step to its last.
        var parts = [Int](repeating: 0, count: ReportedRun.parts)
    }

    /// Sums over all steps; nil where a run of one process records nothing.
    struct Totals: Sendable, Equatable {
        var steps = 0
        var lastStep = 0
        var epoch = 0
        var tokens = 0
        var lossTokens = 0
        var seconds = 0.0
        var firstLoss: Double?
        var lastLoss: Double?
        var slowest: (step: Int, seconds: Double)?
        var coordinatorSeconds: Double?
        var sentBytes: Int?
        var receivedBytes: Int?
        var payloadBytes: Int?

        static func == (left: Totals, right: Totals) -> Bool {
            left.steps == right.steps && left.tokens == right.tokens
                && left.seconds == right.seconds
        }
    }

    /// A timeline has so many cells.
    static let parts = 60
    /// Workers that have a row of their own.
    static let mostWorkers = 256

    var name: String
    var path: String
    var run: RunFile
    var history = RunHistory()
    var totals = Totals()
    var bestValidation: ValidationMetrics?
    /// Before the first step.
    var startValidation: ValidationMetrics?
    /// By their names.
    var workers: [Worker] = []
    /// Workers without a row.
    var otherWorkers: Worker?
    /// SHA-256 of the adapter's weights, once there is one.
    var adapter: String?
    /// What could not be read.
    var warnings: [String] = []

    /// - Parameters:
    ///   - path: the run's directory.
    ///   - name: how the report calls it.
    /// - Throws: `WatchError.notARun`; `FileError`, `TrainingError`.
    package init(path: String, name: String) throws {
        self.path = path
        self.name = name
        let runFile = FilePath.join(path, "run.json")
        guard try FileKind.at(runFile) != nil else {
            throw WatchError.notARun(path: path)
        }
        run = try RunFile(path: runFile)
        try readMetrics(FilePath.join(path, "metrics.jsonl"))
        try readLedger(FilePath.join(path, "ledger.jsonl"))
        let weights = FilePath.join(FilePath.join(path, "adapter"), AdapterFiles.weightsName)
        if FileManager.default.fileExists(atPath: weights) {
            adapter = try RegularFile.digest(of: weights).digest.description
        }
    }

    private mutating func readMetrics(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        let tail = MetricsTail(path: path)
        var (offset, damaged) = (0, 0)
        while true {
            let piece = try tail.piece(from: offset, most: 4096)
            for record in piece.records { add(record) }
            damaged += piece.damaged
            guard piece.end > offset else { break }
            offset = piece.end
        }
        warn(damaged, path)
    }

    private mutating func warn(_ damaged: Int, _ path: String) {
        guard damaged > 0 else { return }
        warnings.append("\(Figures.count(damaged, "line")) of \(path) cannot be read")
    }

    private mutating func add(_ record: Metrics.Record) {
        switch record {
        case .step(let metrics):
            history.add(metrics)
            totals.add(metrics)
        case .validation(let metrics):
            history.add(metrics)
            if metrics.step == 0 { startValidation = metrics }
            if metrics.isBetter(than: bestValidation, by: run.configuration.usedBestMetric) {
                bestValidation = metrics
            }
        case .sample(let sample): history.add(sample)
        }
    }

    private mutating func readLedger(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        var found: [String: Worker] = [:]
        var others = Worker(name: "others")
        let last = max(1, totals.lastStep)
        let damaged = try Ledger.readWhatIsWhole(path: path) { record in
            // Losses and log-probabilities are a small part of the work.
            guard case .microBatch(let entry) = record else { return }
            let part = Self.part(ofStep: entry.step, last: last)
            if found[entry.worker] == nil, found.count >= Self.mostWorkers {
                others.add(entry, part)
            } else {
                found[entry.worker, default: Worker(name: entry.worker)].add(entry, part)
            }
        }
        workers = found.values.sorted { $0.name < $1.name }
        if others.microBatches > 0 { otherWorkers = others }
        warn(damaged, path)
    }

    /// Which cell of a timeline a step falls into.
    static func part(ofStep step: Int, last: Int) -> Int {
        guard step > 0, last > 0 else { return 0 }
        // A damaged ledger may have a step that no integer holds 60 times.
        return Int(min(Double(parts - 1), Double(step - 1) / Double(last) * Double(parts)))
    }
}

extension ReportedRun.Worker {
    mutating func add(_ entry: LedgerEntry, _ part: Int) {
        // Numbers of a file that may have been changed.
        microBatches += 1
        tokens &+= entry.tokens
        if entry.attempt > 1 { again += 1 }
        if firstStep == 0 || entry.step < firstStep { firstStep = entry.step }
        lastStep = max(lastStep, entry.step)
        parts[part] &+= max(0, entry.tokens)
    }
}

extension ReportedRun.Totals {
    mutating func add(_ metrics: StepMetrics) {
        func sum<Number: AdditiveArithmetic>(
            _ total: inout Number?, _ number: Number?, _ add: (Number, Number) -> Number
        ) {
            guard let number else { return }
            total = add(total ?? .zero, number)
        }
        steps += 1
        if firstLoss == nil { firstLoss = metrics.loss }
        lastLoss = metrics.loss
        lastStep = metrics.step
        epoch = metrics.epoch
        tokens &+= metrics.tokens
        lossTokens &+= metrics.lossTokens
        seconds += metrics.seconds
        if metrics.seconds > slowest?.seconds ?? -1 { slowest = (metrics.step, metrics.seconds) }
        sum(&coordinatorSeconds, metrics.coordinatorCPUSeconds, +)
        sum(&sentBytes, metrics.sentBytes, &+)
        sum(&receivedBytes, metrics.receivedBytes, &+)
        sum(&payloadBytes, metrics.payloadBytes, &+)
    }

    var tokensPerSecond: Double { seconds > 0 ? Double(tokens) / seconds : 0 }
}

extension ReportedRun {
    /// Workers that a report lists: one process that trains alone has all the work, which says nothing.
    var shownWorkers: [Worker] {
        if totals.coordinatorSeconds == nil, workers.count == 1 { return [] }
        return workers + (otherWorkers.map { [$0] } ?? [])
    }

    /// How the best validation does beside that before the first step; nil: one of them is missing.
    var improvement: Improvement? {
        guard let start = startValidation, let best = bestValidation else { return nil }
        let metric = run.configuration.usedBestMetric
        return Improvement(
            beginning: run.initAdapterDigest == nil ? .baseModel : .initialAdapter,
            start: Improvement.Score(start, by: metric),
            kept: Improvement.Score(best, by: metric), step: best.step)
    }
}
