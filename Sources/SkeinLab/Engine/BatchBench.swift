import SkeinBasics
import SkeinCluster
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTensors

/// Answers of 1, 2, 4, ... sequences at once beside one alone and beside multiply-adds in registers.
///
/// One sequence reads all weights for each token, so memory or the unpacking of weights is its limit;
/// several share that, and arithmetic is theirs. Every repetition measures all numbers of sequences
/// one after the other, and before each the registers, so that a neighbour on the machine slows all
/// of them.
package struct BatchBench {
    let model: ModelDirectory
    let plan: BatchPlan
    let promptTokens: Int
    let tokens: Int
    let threads: Int
    private let team: ComputeTeam
    private let weights: GenerationWeights
    private let batch: BatchDecoder
    private let base: GenerationProjections
    private let prompt: [Int32]

    /// Loops in registers of each thread in one timing.
    private static let passes = 8
    /// Those who wait while a prompt is read.
    private static let waiting = 4

    /// - Parameters:
    ///   - modelPath: what `ModelDirectory.open` takes.
    ///   - sequences: at most so many at once.
    ///   - promptTokens: before each answer; they are read once and restored for the others.
    ///   - tokens: of each answer.
    ///   - threads: that compute.
    ///   - compute: for prompts.
    ///   - cacheType: how keys and values are held.
    /// - Throws: `FormatError` and `FileError` of the model; `GenerationError.promptTooLong`.
    init(
        modelPath: String, sequences: Int, promptTokens: Int, tokens: Int, threads: Int,
        compute: ComputeType, cacheType: CacheType
    ) throws {
        model = try ModelDirectory.open(modelPath)
        let limit = model.configuration.contextLength
        let context = promptTokens + tokens + 1
        guard context <= limit else {
            throw GenerationError.promptTooLong(tokens: context, limit: limit)
        }
        plan = BatchPlan(
            model: model.configuration, sequences: max(sequences, Self.waiting + 1),
            context: context, rows: sequences, compute: compute, cacheType: cacheType)
        team = ComputeTeam(threadCount: threads)
        weights = try GenerationWeights(model: model, compute: compute, team: team)
        base = GenerationProjections(weights, adapter: nil)
        batch = BatchDecoder(
            weights: weights, plan: plan, team: team,
            prefixes: PrefixCache(
                model: SHA256.digest(of: []),
                byteLimit: 2
                    * plan.sequenceBytes(
                        context, of: model.configuration) + promptTokens * PrefixCache.blockOverhead
            ))
        let vocabulary = model.configuration.vocabularySize
        prompt = (0..<promptTokens).map { Int32((1000 + 37 * $0) % vocabulary) }
        self.promptTokens = promptTokens
        self.tokens = tokens
        self.threads = threads
    }

    /// Operations of a token's products with the weights, without attention.
    private var operationsPerToken: Int {
        weights.projectionOperations + 2 * model.configuration.width
            * model.configuration.vocabularySize
    }

    /// Measures; the first repetition only warms up.
    func run(_ effort: Effort) throws -> BatchResult {
        let most = plan.rows
        let sizes = [1, 2, 4, 8, 16, 32, 64].filter { $0 < most } + [most]
        var result = BatchResult(
            compute: plan.compute, cacheType: plan.cacheType, threads: threads,
            promptTokens: promptTokens, tokens: tokens, operationsPerToken: operationsPerToken,
            memoryBytes: plan.memoryBytes(of: model.configuration, threads: threads),
            runs: sizes.map { BatchResult.Run(sequences: $0) })
        let operations = RegisterPeak.run(.single) * threads * Self.passes
        for repetition in 0...effort.repetitions {
            for (place, size) in sizes.enumerated() {
                let ids = (0..<size).compactMap { _ in join(prompt) }
                readPrompts()
                let peak = Stopwatch.time {
                    team.run(threads * Self.passes) { _, _ in RegisterPeak.run(.single) }
                }
                let decode = Stopwatch.time { for _ in 0..<tokens { step() } }
                for id in ids { batch.leave(id) }
                guard repetition > 0 else { continue }
                result.runs[place].decode.append(decode)
                result.runs[place].peakRates.append(Double(operations) / peak.seconds)
            }
        }
        result.waits = waits()
        return result
    }

    private func join(_ prompt: [Int32]) -> BatchDecoder.SequenceID? {
        let admission = batch.admit(
            prompt: prompt, maximumTokens: plan.context - prompt.count, adapter: base)
        guard case .admitted(let id) = admission else { return nil }
        return id
    }

    /// Reads the prompts of all who joined, and picks their first tokens.
    private func readPrompts() {
        var picked: [(BatchDecoder.SequenceID, Int32)] = []
        while !batch.isIdle {
            batch.step(check: DecoderSession.uninterrupted) {
                picked.append(($0.id, Sampler().pick($0.values, position: 0)))
            }
        }
        for (id, token) in picked { batch.feed(id, [token]) }
    }

    @discardableResult
    private func step() -> BatchDecoder.Step {
        batch.step(check: DecoderSession.uninterrupted) {
            batch.feed($0.id, [Sampler().pick($0.values, position: 1)])
        }
    }

    /// Seconds of each step of some answers in which a new prompt is read, too.
    private func waits() -> [Double] {
        let ids = (0..<Self.waiting).compactMap { _ in join(prompt) }
        readPrompts()
        var seconds: [Double] = []
        // No block of it is known.
        guard let last = join(prompt.map { $0 == 0 ? 1 : $0 - 1 }) else { return [] }
        while seconds.count < tokens - 2, batch.tokenCount(of: last) < promptTokens {
            seconds.append(Stopwatch.time { step() }.seconds)
        }
        for id in ids + [last] { batch.leave(id) }
        return seconds
    }
}

extension BatchBench {
    /// Measures answers of several sequences at once; `threads`: nil means all cores that may be used.
    package static func report(
        modelPath: String, sequences: Int, promptTokens: Int, tokens: Int, threads: Int?,
        compute: ComputeType, cacheType: CacheType
    ) throws -> BenchReport {
        let machine = Machine.current()
        let effort = Effort.generate
        let bench = try BatchBench(
            modelPath: modelPath, sequences: sequences, promptTokens: promptTokens, tokens: tokens,
            threads: threads ?? machine.cores, compute: compute, cacheType: cacheType)
        let result = try bench.run(effort)
        return BenchReport(
            machine, [("model", .text(bench.model.path))] + result.json,
            [
                "\(bench.model.path); \(compute.rawValue), cache \(cacheType.rawValue), "
                    + "\(Figures.count(result.threads, "thread")), answers of \(tokens) tokens "
                    + "behind \(promptTokens), median of \(effort.repetitions)",
                "\(Figures.bytes(result.memoryBytes)) besides the weights; "
                    + result.waitLine(answers: waiting),
            ], result.table)
    }
}
