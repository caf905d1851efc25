import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// Generation against the training decoder, and what may not change a logit.
@Suite struct GenerationTests {
    private static let lora = LoRAConfiguration(
        rank: 3, scale: 2, dropout: 0, targets: TargetModule.allCases, layers: 0..<2)

    private func tokens(_ count: Int) -> [Int32] { (0..<count).map { Int32(($0 * 37 + 5) % 320) } }

    private func open<Result>(
        _ tiny: TinyModel, _ body: (ModelDirectory) throws -> Result
    ) throws -> Result {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try tiny.writeGGUF(to: path)
            return try body(ModelDirectory.open(path))
        }
    }

    private func adapter(_ model: ModelDirectory) -> AdapterParameters {
        let shape = AdapterShape(Self.lora, model: model.configuration)
        var adapter = AdapterParameters(shape: shape, seed: 5)
        adapter.values = TinyDecoder.parameters(shape)
        return adapter
    }

    private func session(
        _ model: ModelDirectory, _ adapter: AdapterParameters?, threads: Int, capacity: Int,
        compute: ComputeType = .fp32
    ) throws -> DecoderSession {
        let team = ComputeTeam(threadCount: threads)
        return DecoderSession(
            weights: try GenerationWeights(model: model, compute: compute, team: team),
            adapter: adapter, capacity: capacity, team: team, compute: compute)
    }

    /// -log softmax(logits)[target].
    private func loss(_ logits: [Float], _ target: Int) -> Double {
        let most = Double(logits.max() ?? 0)
        let sum = logits.reduce(0.0) { $0 + exp(Double($1) - most) }
        return log(sum) - (Double(logits[target]) - most)
    }

    @Test(
        "a prompt's and a single token's logits are the training decoder's",
        arguments: TinyModel.WeightType.allCases, [true, false])
    func decoder(type: TinyModel.WeightType, tied: Bool) throws {
        for var tiny in [TinyModel()] + TinyModel.otherHeads {
            tiny.weightType = type
            tiny.tiedEmbeddings = tied
            try checkDecoder(tiny)
        }
    }

    private func checkDecoder(_ tiny: TinyModel) throws {
        try open(tiny) { model in
            for adapter in [nil, adapter(model)] {
                let decoder = Decoder(
                    weights: try DecoderWeights(
                        model: model, residence: .resident, positions: 128, threads: 1),
                    adapter: adapter?.shape)
                let all = tokens(90)
                let atOnce = try session(model, adapter, threads: 2, capacity: 90)
                let stepwise = try session(model, adapter, threads: 2, capacity: 90)
                _ = stepwise.logits(after: Array(all[..<70]))
                var last: [Float] = []
                for token in all[70...] { last = stepwise.logits(after: [token], as: .answer) }
                for logits in [atOnce.logits(after: all), last] {
                    for target in [0, 7, 319] {
                        let row = PackedBatch.Sequence(
                            tokens: all + [Int32(target)],
                            isTarget: [Bool](repeating: false, count: 90) + [true], number: 0)
                        let expected = (adapter?.values ?? []).withUnsafeBufferPointer {
                            decoder.loss(
                                of: PackedBatch([row]),
                                parameters: adapter == nil ? nil : $0.baseAddress,
                                workspace: DecoderWorkspace())
                        }.lossSum
                        #expect(abs(loss(logits, target) - expected) < 2e-5 * expected)
                    }
                }
            }
        }
    }

    @Test("the number of threads does not change a bit", arguments: ComputeType.allCases)
    func threads(compute: ComputeType) throws {
        for var tiny in [TinyModel()] + TinyModel.otherHeads {
            tiny.weightType = .q4x0
            try checkThreads(tiny, compute: compute)
        }
    }

    private func checkThreads(_ tiny: TinyModel, compute: ComputeType) throws {
        try open(tiny) { model in
            let adapter = adapter(model)
            // More than one block, and more than one block of queries.
            let prompt = tokens(DecoderSession.blockTokens(compute) + 45)
            let results = try [1, 2, 5].map { threads in
                let session = try session(
                    model, adapter, threads: threads, capacity: prompt.count + 8, compute: compute)
                let (first, hidden) = session.read(prompt)
                let others = tokens(8).map { session.logits(after: [$0], as: .answer) }
                return [first] + hidden + others
            }
            #expect(results[0].allSatisfy { $0.allSatisfy(\.isFinite) })
            #expect(results[1] == results[0])
            #expect(results[2] == results[0])
        }
    }

    @Test("a prompt in bf16 or int8 is one in fp32 up to their rounding", arguments: [true, false])
    func rounded(tied: Bool) throws {
        var tiny = TinyModel()
        tiny.tiedEmbeddings = tied
        try open(tiny) { model in
            for adapter in [nil, adapter(model)] {
                let prompt = tokens(90)
                let logits = try ComputeType.allCases.map { compute in
                    try session(model, adapter, threads: 2, capacity: 90, compute: compute)
                        .logits(after: prompt)
                }
                for (rounded, most) in zip(logits[1...], [0.01, 0.03]) {
                    #expect(logits[0] != rounded)
                    for target in [0, 7, 319] {
                        let (single, rounded) = (loss(logits[0], target), loss(rounded, target))
                        #expect(abs(single - rounded) < most * single, "\(single) \(rounded)")
                    }
                }
            }
        }
    }

    @Test("a prompt in one call or in two is the same up to rounding, and can be truncated")
    func cut() throws {
        try open(TinyModel()) { model in
            let adapter = adapter(model)
            let count = DecoderSession.blockTokens(.fp32) + 61
            let prompt = tokens(count)
            let whole = try session(model, adapter, threads: 2, capacity: count)
            let (expected, hidden) = whole.read(prompt)
            #expect(hidden.count == model.configuration.layerCount + 2)
            for cut in [1, 37, DecoderSession.blockTokens(.fp32), count - 1] {
                let session = try session(model, adapter, threads: 2, capacity: count)
                _ = session.logits(after: Array(prompt[..<cut]))
                #expect(session.room == count - cut)
                let (found, ownHidden) = session.read(Array(prompt[cut...]))
                #expect(session.room == 0)
                let error = CentralDifference.relativeError(
                    found.map(Double.init), expected.map(Double.init))
                #expect(error < 1e-5, "cut at \(cut)")
                for (a, b) in zip(ownHidden, hidden) {
                    let error = CentralDifference.relativeError(
                        a.map(Double.init), b.map(Double.init))
                    #expect(error < 1e-5, "cut at \(cut)")
                }
                session.truncate(to: cut)
                #expect(session.logits(after: Array(prompt[cut...])) == found)
            }
        }
    }

    @Test("reading a prompt and packing the weights end when the caller does not want them")
    func abandoned() throws {
        try open(TinyModel()) { model in
            let layers = model.configuration.layerCount
            let prompt = tokens(DecoderSession.blockTokens(.fp32) + 61)
            let session = try session(model, nil, threads: 2, capacity: prompt.count)
            let expected = session.logits(after: prompt)
            for calls in [1, layers, layers + 1, 2 * layers] {
                session.truncate(to: 0)
                var left = calls
                #expect(throws: CancellationError.self) {
                    try session.withLogits(after: prompt) {
                        left -= 1
                        if left == 0 { throw CancellationError() }
                    } _: { _ in
                    }
                }
                // Only a whole block counts.
                #expect(session.count == (calls > layers ? DecoderSession.blockTokens(.fp32) : 0))
                session.truncate(to: 0)
                #expect(session.logits(after: prompt) == expected)
            }
            #expect(throws: CancellationError.self) {
                try GenerationWeights(model: model, team: ComputeTeam(threadCount: 2)) {
                    throw CancellationError()
                }
            }
        }
    }

    @Test("what a block that was not finished wrote over a window is not trusted")
    func abandonedWindow() throws {
        try open(TinyModel()) { model in
            var model = model
            for index in model.configuration.design.blocks.indices {
                model.configuration.design.blocks[index].window = 16
            }
            let block = DecoderSession.blockTokens(.fp32)
            let prompt = tokens(block + 44)
            let session = try session(model, nil, threads: 2, capacity: 3 * block)
            _ = session.logits(after: prompt)
            #expect(session.canTruncate(to: prompt.count - 60))
            var calls = 0
            #expect(throws: CancellationError.self) {
                try session.withLogits(after: tokens(block)) {
                    calls += 1
                    if calls == 2 { throw CancellationError() }
                } _: { _ in
                }
            }
            #expect(session.count == prompt.count)
            #expect(!session.canTruncate(to: prompt.count - 60))
            // What comes next sees only what is still there.
            let fresh = try self.session(model, nil, threads: 2, capacity: 3 * block)
            _ = fresh.logits(after: prompt)
            #expect(session.logits(after: [5, 6, 7]) == fresh.logits(after: [5, 6, 7]))
        }
    }

    @Test(
        "packed rows are the file's numbers, bit for bit", arguments: ElementType.allCases,
        [UInt8(0xbf), 0xdf])
    func packing(type: ElementType, mask: UInt8) throws {
        guard let element = MatrixSource.element(of: type) else { return }
        let (rows, columns) = (21, type.blockElements == 256 ? 768 : 544)
        let rowBytes = columns / type.blockElements * type.blockBytes
        // Any bytes but those that make a scale infinite or not a number.
        let random = AddressedRandom(seed: 12, purpose: .benchmark)
        let bytes = (0..<(rows * rowBytes)).map {
            UInt8(truncatingIfNeeded: random.block(UInt32($0), 0).x) & mask
        }
        let memory = InterleavedMemory(
            byteCount: InterleavedMatrix.byteCount(element, rows: rows, columns: columns))
        let matrix = InterleavedMatrix(element, rows: rows, columns: columns, at: memory.base)
        var expected = [Float](repeating: .nan, count: rows * columns)
        bytes.withUnsafeBytes { source in
            guard let base = source.baseAddress else { return }
            for group in 0..<matrix.groups {
                MatrixSource.pack(
                    matrix.rows(ofGroup: group).map { base + $0 * rowBytes }, of: type,
                    group: group, of: matrix)
            }
            type.dequantize(
                from: base, blocks: rows * columns / type.blockElements, into: &expected)
        }
        var scratch = [Float](repeating: .nan, count: InterleavedMatrix.scratchCount)
        var found = [Float](repeating: .nan, count: columns)
        for row in 0..<rows {
            matrix.copyRow(row, into: &found, scratch: &scratch)
            #expect(
                found.map(\.bitPattern)
                    == expected[(row * columns)..<((row + 1) * columns)].map(\.bitPattern))
        }
        withExtendedLifetime(memory) {}
    }

    @Test(
        "what weights will take is known beforehand",
        arguments: [TinyModel.WeightType.q4x0, .q8x0, .f32])
    func packedBytes(type: TinyModel.WeightType) throws {
        try GenerationCase.tiny(type, isWindowed: false).open { model, _ in
            for compute in [ComputeType.fp32, .int8] {
                let held = try GenerationWeights(
                    model: model, compute: compute, team: ComputeTeam(threadCount: 1))
                let planned = try GenerationWeights.packedBytes(of: model, compute: compute)
                #expect(planned >= held.byteCount && planned < held.byteCount + (1 << 20))
                // Blocks of a prompt want keys and values of the last layer, and nothing else of it.
                let codes = held.blocks.map { $0.codes.compactMap(\.self).count }
                #expect(codes == (compute == .int8 ? [7, 2] : [0, 0]))
            }
        }
    }

    @Test("tokens are drawn from the same candidates as by sorting all of them")
    func candidates() {
        var logits = CentralDifference.numbers(1000, seed: 12, stream: 1, spread: 2)
        // Equal ones at the border, and both zeros.
        for i in stride(from: 0, to: 1000, by: 7) { logits[i] = (logits[i] * 2).rounded() / 2 }
        logits[40] = -0.0
        logits[41] = 0
        let order = logits.indices.sorted {
            logits[$0] != logits[$1] ? logits[$0] > logits[$1] : $0 < $1
        }
        for topK in [1, 5, 60, 256, 257, 999, 1000, 0] {
            let kept = order.prefix(topK == 0 ? 1000 : topK)
            let sampler = Sampler(temperature: 1.5, topK: topK, topP: 0.9, seed: 4)
            let weights = kept.map { Double(exponential((logits[$0] - logits[order[0]]) / 1.5)) }
            var (mass, nucleus) = (0.0, 0)
            while nucleus < kept.count, mass < 0.9 * weights.reduce(0, +) {
                mass += weights[nucleus]
                nucleus += 1
            }
            let allowed = Set(kept.prefix(nucleus).map { Int32($0) })
            let picked = (0..<300).map { sampler.pick(logits, position: $0) }
            #expect(Set(picked).isSubset(of: allowed), "top \(topK)")
            #expect(Set(picked).count > min(nucleus, 30) / 2, "top \(topK)")
        }
        // The smallest nucleus is the first of the likeliest.
        let first = Sampler(temperature: 1, topK: 0, topP: 1e-6, seed: 4)
        #expect(first.pick(logits, position: 3) == Int32(order[0]))
    }

    @Test("of equal logits the first is picked, wherever it is")
    func largest() {
        for count in [1, 7, 8, 9, 320] {
            for place in [0, count / 2, count - 1] {
                var logits = [Float](repeating: -3, count: count)
                for i in place..<count { logits[i] = 2 }
                #expect(Sampler().pick(logits, position: 0) == Int32(place), "\(place) of \(count)")
            }
        }
    }
}
