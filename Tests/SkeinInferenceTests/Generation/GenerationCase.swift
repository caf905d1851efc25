import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels
@testable import SkeinModelsTestSupport

/// A model of each family, of each kind of weights and with windows, for what must not depend on how
/// tokens are read.
enum GenerationCase: Sendable, CustomTestStringConvertible {
    case family(String)
    /// Windows of 16 in every other layer, if `isWindowed`.
    case tiny(TinyModel.WeightType, isWindowed: Bool)

    static var all: [GenerationCase] {
        FamilyNumbers.families.map { .family($0) } + few
    }

    /// Those that differ in what a cache keeps.
    static let few: [GenerationCase] = [
        .tiny(.f32, isWindowed: false), .tiny(.q4x0, isWindowed: true),
        .tiny(.q8x0, isWindowed: false),
    ]

    var testDescription: String {
        switch self {
        case .family(let name): name
        case .tiny(let type, let isWindowed): "\(type)\(isWindowed ? ", windows" : "")"
        }
    }

    /// The model and an adapter for it.
    func open<Result>(_ body: (ModelDirectory, AdapterParameters) throws -> Result) throws
        -> Result
    {
        try TestPaths.withTemporaryDirectory { directory in
            switch self {
            case .family(let name):
                let golden = try FamilyNumbers.of(name)
                let model = try golden.model(in: directory)
                return try body(model, golden.adapter(model.configuration))
            case .tiny(let type, let isWindowed):
                var tiny = TinyModel()
                tiny.weightType = type
                try tiny.writeGGUF(to: directory + "/tiny.gguf")
                var model = try ModelDirectory.open(directory + "/tiny.gguf")
                if isWindowed {
                    for index in stride(from: 0, to: model.configuration.layerCount, by: 2) {
                        model.configuration.design.blocks[index].window = 16
                    }
                }
                return try body(model, Self.adapter(model.configuration, rank: 3, seed: 5))
            }
        }
    }

    /// The packed weights of the model and two threads; `longFrom`: rows of more tokens are turned
    /// otherwise.
    func openWeights(
        longFrom: Int? = nil, _ body: (GenerationWeights, ComputeTeam) throws -> Void
    ) throws {
        try open { model, _ in
            var model = model
            if let longFrom {
                for index in model.configuration.design.rotaryTables.indices {
                    let half = model.configuration.design.rotaryTables[index].dimension / 2
                    model.configuration.design.rotaryTables[index].longDivisors =
                        [Float](repeating: 3, count: half)
                    model.configuration.design.rotaryTables[index].longFrom = longFrom
                }
            }
            let team = ComputeTeam(threadCount: 2)
            try body(GenerationWeights(model: model, team: team), team)
        }
    }

    static func adapter(
        _ model: ModelConfiguration, rank: Int, seed: UInt64
    ) -> AdapterParameters {
        let lora = LoRAConfiguration(
            rank: rank, scale: 2, dropout: 0, targets: TargetModule.allCases + TargetModule.edges,
            layers: 0..<model.layerCount)
        let shape = AdapterShape(lora, model: model)
        var adapter = AdapterParameters(shape: shape, seed: seed)
        let noise = CentralDifference.numbers(
            adapter.values.count, seed: seed, stream: 1, spread: 0.05)
        adapter.values = zip(adapter.values, noise).map { $0 + $1 }
        return adapter
    }

    /// Any tokens of a model.
    static func tokens(_ count: Int, of model: ModelConfiguration, seed: Int = 5) -> [Int32] {
        (0..<count).map { Int32(($0 * 37 + $0 * $0 % 11 + seed) % model.vocabularySize) }
    }
}

extension BatchDecoder {
    /// A member with the base model; nil if it does not fit.
    func join(
        _ prompt: [Int32], _ maximumTokens: Int, _ adapter: GenerationProjections
    ) -> SequenceID? {
        let admission = admit(prompt: prompt, maximumTokens: maximumTokens, adapter: adapter)
        guard case .admitted(let id) = admission else { return nil }
        return id
    }

    /// Steps until nothing is left to read; the last logits of each sequence.
    @discardableResult
    func drain() -> [SequenceID: [Float]] {
        var last: [SequenceID: [Float]] = [:]
        while !isIdle {
            step(check: DecoderSession.uninterrupted) { last[$0.id] = Array($0.values) }
        }
        return last
    }
}

extension UnsafeBufferPointer<Float> {
    /// FNV-1a over the bits: equal ids alone would hide small differences.
    var fingerprint: UInt64 {
        reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1.bitPattern)) &* 0x100_0000_01b3 }
    }
}
