import SkeinBasics
import SkeinCluster
import SkeinFormats
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTensors

/// Generation beside its limits: decoding beside the memory's rate, a prompt beside that of
/// multiply-adds in registers.
///
/// A decoded token reads every weight and the cache once and does little with them, so memory is
/// its limit; a prompt's tokens share the weights, so arithmetic is theirs. Every repetition
/// measures both, and both limits, one after the other, so that a neighbour on the machine slows
/// all of them.
package struct GenerateBench {
    let model: ModelDirectory
    let promptTokens: Int
    let tokens: Int
    let threads: Int
    let compute: ComputeType
    /// Opening, packing and everything else before the first token.
    let load: Timing
    private let team: ComputeTeam
    private let session: DecoderSession
    private let weights: GenerationWeights

    /// Loops in registers of each thread, and passes over the memory, in one timing.
    private static let passes = 8

    /// Opens and packs a model and starts the threads.
    ///
    /// - Throws: `FormatError` and `FileError` of the model; `GenerationError.promptTooLong`.
    init(
        modelPath: String, promptTokens: Int, tokens: Int, threads: Int, compute: ComputeType
    ) throws {
        var parts: (ModelDirectory, ComputeTeam, GenerationWeights, DecoderSession)?
        load = try Stopwatch.time {
            let model = try ModelDirectory.open(modelPath)
            let limit = model.configuration.contextLength
            guard promptTokens + tokens <= limit else {
                throw GenerationError.promptTooLong(tokens: promptTokens + tokens, limit: limit)
            }
            let team = ComputeTeam(threadCount: threads)
            let weights = try GenerationWeights(model: model, compute: compute, team: team)
            let session = DecoderSession(
                weights: weights, adapter: nil, capacity: promptTokens + tokens, team: team,
                compute: compute)
            parts = (model, team, weights, session)
        }
        guard let parts else { preconditionFailure("the timed body sets the parts or throws") }
        (model, team, weights, session) = parts
        self.promptTokens = promptTokens
        self.tokens = tokens
        self.threads = threads
        self.compute = compute
    }

    /// Measures; the first repetition only warms up.
    func run(_ effort: Effort) -> GenerateResult {
        let vocabulary = model.configuration.vocabularySize
        let prompt = (0..<promptTokens).map { Int32((1000 + 37 * $0) % vocabulary) }
        let memory = MemoryRead(byteCount: bytesPerToken, team: team)
        let kind = MatMulTally.Kind(compute)
        let operations = RegisterPeak.run(kind) * threads * Self.passes
        var result = GenerateResult(
            compute: compute, promptTokens: promptTokens, tokens: tokens, threads: threads,
            load: load.seconds,
            operationsPerToken: weights.projectionOperations, bytesPerToken: bytesPerToken,
            peakBytes: nil)
        for repetition in 0...effort.repetitions {
            let isCounted = repetition > 0
            session.truncate(to: 0)
            var next: Int32 = 0
            let prompt = Stopwatch.time {
                next = session.withLogits(after: prompt, check: DecoderSession.uninterrupted) {
                    Sampler().pick($0, position: 0)
                }
            }
            let peak = Stopwatch.time {
                team.run(threads * Self.passes) { _, _ in RegisterPeak.run(kind) }
            }
            let decode = Stopwatch.time {
                for position in 1...tokens {
                    next = session.withLogits(
                        after: [next], as: .answer, check: DecoderSession.uninterrupted
                    ) {
                        Sampler().pick($0, position: position)
                    }
                }
            }
            let reading = Stopwatch.time { for _ in 0..<Self.passes { memory.run() } }
            guard isCounted else { continue }
            result.prompt.append(prompt)
            result.decode.append(decode)
            result.peakRates.append(Double(operations) / peak.seconds)
            result.memoryRates.append(Double(memory.byteCount * Self.passes) / reading.seconds)
        }
        return result
    }

    /// Bytes that a token in the middle of the answer reads.
    private var bytesPerToken: Int {
        session.bytesOfToken(keys: promptTokens + tokens / 2)
    }
}

extension GenerateBench {
    /// Measures a prompt and an answer of a model; `threads`: nil means all cores that may be used.
    package static func report(
        modelPath: String, promptTokens: Int, tokens: Int, threads: Int?, compute: ComputeType
    ) throws -> BenchReport {
        let machine = Machine.current()
        let effort = Effort.generate
        let bench = try GenerateBench(
            modelPath: modelPath, promptTokens: promptTokens, tokens: tokens,
            threads: threads ?? machine.cores, compute: compute)
        var result = bench.run(effort)
        result.peakBytes = ProcessFigures.peakResidentBytes.map { Int(clamping: $0) }
        return BenchReport(
            machine, [("model", .text(bench.model.path))] + result.json,
            [
                "\(bench.model.path); \(compute.rawValue), "
                    + "\(Figures.count(result.threads, "thread")), median of "
                    + "\(effort.repetitions)",
                "loaded in \(Figures.seconds(result.load)); at most "
                    + "\(result.peakBytes.map(Figures.bytes) ?? "?") in use, including as much "
                    + "memory as a token reads",
            ], result.table)
    }
}

/// Reads memory and nothing else, on all threads.
private final class MemoryRead {
    let byteCount: Int
    private let memory: InterleavedMemory
    private let sums: UnsafeMutablePointer<UInt64>
    private let team: ComputeTeam
    private static let pieceBytes = 1 << 18

    init(byteCount: Int, team: ComputeTeam) {
        self.byteCount = (byteCount + Self.pieceBytes - 1) / Self.pieceBytes * Self.pieceBytes
        self.team = team
        memory = InterleavedMemory(byteCount: self.byteCount)
        sums = .allocate(capacity: self.byteCount / Self.pieceBytes)
        memory.base.initializeMemory(as: UInt8.self, repeating: 1, count: self.byteCount)
    }

    deinit { sums.deallocate() }

    func run() {
        let (memory, sums) = (self.memory, self.sums)
        team.run(byteCount / Self.pieceBytes) { piece, _ in
            let base = UnsafeRawPointer(memory.base + piece * Self.pieceBytes)
            var lanes = (SIMD8<UInt64>(), SIMD8<UInt64>())
            for offset in stride(from: 0, to: Self.pieceBytes, by: 128) {
                lanes.0 &+= base.load(fromByteOffset: offset, as: SIMD8<UInt64>.self)
                lanes.1 &+= base.load(fromByteOffset: offset + 64, as: SIMD8<UInt64>.self)
            }
            sums[piece] = (lanes.0 &+ lanes.1).wrappedSum()
        }
    }
}
