import SkeinBasics
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference

/// What a host states before it loads anything, for a machine of a given size.
@Suite struct HostPlanTests {
    private static func run(
        _ body: (ModelDirectory, OptionValues<HostOptions>) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            var options = OptionValues<HostOptions>()
            options.threads = 1
            options.context = 64
            try body(try ModelDirectory.open(directory + "/tiny.gguf"), options)
        }
    }

    @Test("the statement names each part of the sum")
    func statement() throws {
        try Self.run { model, options in
            var options = options
            options.cacheBytes = 16 << 20
            options.prefixBytes = 2 << 20
            options.grammarBytes = 3 << 20
            options.adapterBytes = 5 << 20
            let plan = try HostPlan(
                model, options, for: .server(adapters: 1, ownBytes: 7 << 20), usable: 1 << 32)
            #expect(
                plan.statement == "memory: weights \(Figures.bytes(plan.weightBytes)), "
                    + "activations and answers' JSON \(Figures.bytes(plan.otherBytes)), keys and "
                    + "values up to \(Figures.bytes(16 << 20)) (8 answers, 64 tokens each, fp32), "
                    + "prefix cache up to \(Figures.bytes(2 << 20)), schemas up to "
                    + "\(Figures.bytes(3 << 20)), adapters up to \(Figures.bytes(5 << 20))")
            #expect(plan.otherBytes > 7 << 20)
            #expect(plan.totalBytes == plan.weightBytes + plan.otherBytes + 26 << 20)
        }
    }

    @Test("prompts in int8 need a second copy of the projections")
    func codes() throws {
        try Self.run { model, options in
            let plans = try [ComputeType.fp32, .int8].map { compute in
                var options = options
                options.compute = compute
                return try HostPlan(
                    model, options, for: .server(adapters: 0, ownBytes: 0), usable: 1 << 32)
            }
            let needed = try [ComputeType.fp32, .int8].map {
                try GenerationWeights.packedBytes(of: model, compute: $0)
            }
            #expect(needed[1] > needed[0])
            #expect(plans.map(\.weightBytes) == needed)
        }
    }

    @Test("a program takes half of what a server does where nothing is set, and a share of little")
    func usual() throws {
        try Self.run { model, options in
            let server = HostUse.server(adapters: 0, ownBytes: 0)
            let large = try HostPlan(model, options, for: server, usable: 1 << 40)
            #expect(large.prefixBytes == 1 << 30 && large.grammarBytes == 512 << 20)
            #expect(large.adapterBytes == 0)
            let half = try HostPlan(model, options, for: .program, usable: 1 << 40)
            #expect(half.prefixBytes == 512 << 20 && half.grammarBytes == 256 << 20)
            let unknown = try HostPlan(model, options, for: .program, usable: nil)
            #expect(unknown.totalBytes == half.totalBytes)
            let free = half.otherBytes + half.batch.cacheBytes + 64 << 20
            let small = try HostPlan(
                model, options, for: .program, usable: half.weightBytes + free)
            #expect(small.prefixBytes == free / 8 && small.grammarBytes == free / 8)
            #expect(small.adapterBytes == min(half.adapterBytes, free / 4))
        }
    }

    @Test("what does not fit is refused, with numbers; a program's context is cut to the model's")
    func refusals() throws {
        try Self.run { model, options in
            let server = HostUse.server(adapters: 0, ownBytes: 0)
            let limit = model.configuration.contextLength
            var long = options
            long.context = limit + 1
            #expect(throws: HostError.contextTooLong(tokens: limit + 1, limit: limit)) {
                try HostPlan(model, long, for: server, usable: 1 << 40)
            }
            let cut = try HostPlan(model, long, for: .program, usable: 1 << 40)
            #expect(cut.batch.context == limit)
            var tight = options
            tight.cacheBytes = 1
            let roomy = try HostPlan(model, options, for: server, usable: 1 << 40)
            let one = roomy.batch.sequenceBytes(64, of: model.configuration)
            #expect(throws: HostError.cacheTooSmall(bytes: 1, needed: one)) {
                try HostPlan(model, tight, for: server, usable: 1 << 40)
            }
            // A program has room for a whole context, whatever an answer's usual length is.
            let half = roomy.batch.sequenceBytes(32, of: model.configuration)
            tight.cacheBytes = half
            tight.answerTokens = 32
            #expect(throws: Never.self) {
                try HostPlan(model, tight, for: server, usable: 1 << 40)
            }
            #expect(throws: HostError.cacheTooSmall(bytes: half, needed: one)) {
                try HostPlan(model, tight, for: .program, usable: 1 << 40)
            }
            for use in [server, .program] {
                #expect {
                    try HostPlan(model, options, for: use, usable: 1 << 16)
                } throws: { error in
                    guard case HostError.memory(let needed, 1 << 16) = error else { return false }
                    return needed > 1 << 16
                }
            }
        }
    }
}
