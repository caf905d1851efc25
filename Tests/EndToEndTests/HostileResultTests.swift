import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinFormats
import SkeinLab
import SkeinModels
import SkeinRows
import SkeinTestSupport
import SkeinTraining
import Testing

/// Members that send results other than their work gives.
@Suite("hostile results", .ownThreads)
struct HostileResultTests {
    /// A lie about a result, and what the coordinator must answer.
    private struct Lie {
        let name: String
        let verdict: ResultAnswer.Verdict
        /// A part of the answer.
        let mention: String
        /// Whether the worker that told it has to pause.
        var isPunished = true
        let change: (inout WorkResult) -> Void
    }

    /// A well-formed result with this gradient.
    static func result(
        for lease: LeaseGrant, of offer: Offer, gradient: [Float], codec: GradientCodec = .fp32
    ) throws -> WorkResult {
        var gradient = gradient
        let recipe = WorkRecipe(
            model: offer.modelDigest,
            try TrainingConfiguration(json: offer.configuration, path: "offer"))
        let payload = codec.pack(&gradient, seed: 1, step: Int(lease.step), microBatch: 0)
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: lease.work.kind,
            tokens: UInt32(lease.rows.reduce(0) { $0 + $1.ids.count }),
            lossTokens: UInt32(
                lease.rows.reduce(0) { $0 + $1.targets.reduce(0) { $0 + $1.count } }),
            correct: 0, lossSum: 1, digest: GradientCodec.digest(of: gradient).bytes,
            inputs: WorkInputs(recipe, lease, rows: lease.rows.map { TokenizedRow($0) }).digest
                .bytes,
            payload: payload)
    }

    /// How many numbers a gradient of the run has.
    static func parameterCount(_ offer: Offer, model: String) throws -> Int {
        let configuration = try TrainingConfiguration(json: offer.configuration, path: "offer")
        let model = try ModelDirectory.open(model).configuration
        let lora = try configuration.lora(layerCount: model.layerCount)
        return AdapterShape(lora, model: model).layout.count
    }

    /// A packed gradient whose first plane is this zstd frame.
    private func payload(count: Int, frame: [UInt8]) -> [UInt8] {
        func bytes(_ number: Int) -> [UInt8] {
            withUnsafeBytes(of: UInt32(number).littleEndian) { Array($0) }
        }
        var planes: [UInt8] = [1, 1] + bytes(count)
        planes += [1] + bytes(frame.count) + frame
        for _ in 1..<4 {
            planes += [0] + bytes(count) + [UInt8](repeating: 0, count: count)
        }
        return planes
    }

    /// A zstd frame (RFC 8878) that says it holds `size` bytes, in blocks of 128 KiB, each of which
    /// takes four bytes.
    private func bomb(size: UInt64, blocks: Int) -> [UInt8] {
        var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xE0]
        frame += withUnsafeBytes(of: size.littleEndian) { Array($0) }
        for block in 0..<blocks {
            let header = UInt32(128 << 10) << 3 | 1 << 1 | (block == blocks - 1 ? 1 : 0)
            frame += withUnsafeBytes(of: header.littleEndian) { Array($0.prefix(3)) } + [0]
        }
        return frame
    }

    private func lies(count: Int) -> [Lie] {
        func other(_ gradient: [Float]) -> (inout WorkResult) -> Void {
            { result in
                var gradient = gradient
                result.digest = GradientCodec.digest(of: gradient).bytes
                result.payload = GradientCodec.fp32.pack(
                    &gradient, seed: 1, step: 1, microBatch: 0)
            }
        }
        var nan = [Float](repeating: 0, count: count)
        nan[count / 2] = .nan
        let huge = bomb(size: 1 << 40, blocks: 1000)
        let sly = bomb(size: UInt64(count), blocks: 1000)
        return [
            Lie(
                name: "NaN", verdict: .refused, mention: "first at number \(count / 2)",
                isPunished: false, change: other(nan)),
            Lie(name: "loss", verdict: .refused, mention: "its loss is inf", isPunished: false) {
                $0.lossSum = .infinity
            },
            Lie(
                name: "one too many", verdict: .refused, mention: "cannot be unpacked",
                change: other([Float](repeating: 0, count: count + 1))),
            Lie(
                name: "one too few", verdict: .refused, mention: "cannot be unpacked",
                change: other([Float](repeating: 0, count: count - 1))),
            Lie(name: "SHA-256", verdict: .refused, mention: "its SHA-256 is not that") {
                $0.digest[7] ^= 1
            },
            Lie(name: "inputs", verdict: .refused, mention: "other parameters, rows or options") {
                $0.inputs[3] ^= 1
            },
            Lie(name: "tokens", verdict: .refused, mention: "the plan has") { $0.tokens += 1 },
            Lie(name: "loss tokens", verdict: .refused, mention: "the plan has") {
                $0.lossTokens -= 1
            },
            Lie(name: "correct", verdict: .refused, mention: "correct of") {
                $0.correct = $0.lossTokens + 1
            },
            Lie(name: "kind", verdict: .refused, mention: "no such work") {
                $0.kind = .evaluation
                $0.payload = []
            },
            Lie(name: "empty", verdict: .refused, mention: "cannot be unpacked") {
                $0.payload = []
            },
            Lie(name: "length inside", verdict: .refused, mention: "cannot be unpacked") {
                for place in 7..<11 { $0.payload[place] = 255 }
            },
            Lie(name: "bomb", verdict: .refused, mention: "cannot be unpacked") {
                $0.payload = payload(count: count, frame: huge)
            },
            Lie(name: "sly bomb", verdict: .refused, mention: "cannot be unpacked") {
                $0.payload = payload(count: count, frame: sly)
            },
            Lie(name: "index", verdict: .refused, mention: "there is no work number 4711") {
                $0.key.index = 4711
            },
            Lie(
                name: "next round", verdict: .stale, mention: "is computed now", isPunished: false
            ) { $0.key.round += 1 },
        ]
    }

    @Test("each lie gets its answer, the work goes to others, and the adapter is right")
    func lies() throws {
        try FaultBench.withCluster { cluster in
            let first = try HostilePeer(cluster.address, name: "first")
            try first.authenticate()
            let count = try Self.parameterCount(first.offer, model: cluster.bench.model)
            let before = try FaultBench.residentBytes(cluster.coordinator)
            for (number, lie) in lies(count: count).enumerated() {
                let peer = try HostilePeer(cluster.address, name: "liar-\(number)")
                try peer.join()
                let lease = try peer.lease()
                var result = try Self.result(
                    for: lease, of: peer.offer, gradient: [Float](repeating: 0, count: count))
                lie.change(&result)
                peer.say(.result(result))
                let answer = try peer.answer(to: result.key)
                #expect(answer.verdict == lie.verdict, "\(lie.name): \(answer)")
                #expect(answer.detail.contains(lie.mention), "\(lie.name): \(answer)")
                if lie.isPunished {
                    let rejection = try peer.rejection()
                    #expect(rejection?.code == .quarantined, "\(lie.name)")
                    #expect((rejection?.retryMilliseconds ?? 0) > 0, "\(lie.name)")
                    let again = try HostilePeer(cluster.address, name: "liar-\(number)")
                    try again.prove()
                    #expect(try again.rejection()?.code == .quarantined, "\(lie.name)")
                } else {
                    // It may go on, but its work goes to another worker as soon as one joins.
                    peer.say(.leave(Leave(reason: .draining)))
                }
                #expect(cluster.coordinator.isRunning, "\(lie.name)")
            }
            let growth = try FaultBench.residentBytes(cluster.coordinator) - before
            #expect(growth < 64 << 20, "\(growth) bytes")
            try FaultBench.finish(cluster)
            #expect(cluster.coordinator.errorText.contains("refused the result of micro-batch"))
        }
    }

    @Test("twenty names, each with a bad result of the same work, do not end the run")
    func changingNames() throws {
        try FaultBench.withCluster { cluster in
            var keys = Set<WorkKey>()
            for number in 0..<20 {
                let peer = try HostilePeer(cluster.address, name: "name-\(number)")
                try peer.join()
                let count = try Self.parameterCount(peer.offer, model: cluster.bench.model)
                let lease = try peer.lease()
                keys.insert(lease.key)
                var result = try Self.result(
                    for: lease, of: peer.offer, gradient: [Float](repeating: 0, count: count))
                result.tokens += 1
                peer.say(.result(result))
                #expect(try peer.answer(to: result.key).verdict == .refused)
            }
            #expect(keys.count == 1)
            try FaultBench.finish(cluster)
        }
    }

    @Test(
        "of lossy codecs: a payload of another codec, and blocks that lie",
        arguments: [
            GradientCodec.bf16, .int8,
        ])
    func codecs(codec: GradientCodec) throws {
        let run = FaultBench.run + ["--gradient-codec", codec.rawValue]
        try Workbench.with { bench in
            try bench.train("quiet", run)
            let cluster = try ClusterHarness(bench, "run", run)
            for (name, change) in [
                ("other codec", { (bytes: inout [UInt8]) in bytes[1] = codec == .bf16 ? 3 : 2 }),
                ("cut", { (bytes: inout [UInt8]) in bytes.removeLast() }),
                ("left over", { (bytes: inout [UInt8]) in bytes.append(0) }),
            ] {
                let peer = try HostilePeer(cluster.address, name: name)
                try peer.join()
                let count = try Self.parameterCount(peer.offer, model: bench.model)
                let gradient = (0..<count).map { Float($0 % 97) }
                var result = try Self.result(
                    for: peer.lease(), of: peer.offer, gradient: gradient, codec: codec)
                change(&result.payload)
                peer.say(.result(result))
                let answer = try peer.answer(to: result.key)
                #expect(answer.verdict == .refused, "\(name)")
                #expect(answer.detail.contains("cannot be unpacked"), "\(name): \(answer)")
                #expect(try peer.rejection()?.code == .quarantined, "\(name)")
            }
            try cluster.startWorker("healthy")
            try cluster.finish()
            #expect(try bench.result(of: "run") == bench.result(of: "quiet"))
            try verifyLedger(bench, of: "run", steps: FaultBench.steps)
        }
    }
}
