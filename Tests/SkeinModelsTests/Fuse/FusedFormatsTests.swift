import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels

/// Every family from a folder to a GGUF file and back.
@Suite struct FusedFormatsTests {
    private let team = ComputeTeam(threadCount: 2)

    private static func withFolder(
        _ golden: FamilyGolden, _ body: (String, FuseCase) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = try FuseCase.folder(golden, in: directory + "/base")
            try body(directory, FuseCase(model))
        }
    }

    @Test("a folder's fused folder computes with the same numbers", arguments: FamilyGolden.all)
    func folders(golden: FamilyGolden) throws {
        try Self.withFolder(golden) { directory, base in
            let expected = try FuseCase.numbers(base.model, base.adapter)
            let path = directory + "/fused"
            _ = try FusedFolder(base.input, type: .f32) { [] }.write(
                to: path, shardBytes: 1 << 30, team: team
            ) { _ in }
            let fused = try ModelDirectory.open(path)
            #expect(fused.configuration == base.model.configuration)
            #expect(FuseCase.difference(try FuseCase.numbers(fused), expected) == nil)
        }
    }

    @Test("a folder becomes a GGUF file with the same numbers", arguments: FamilyGolden.all)
    func ggufFiles(golden: FamilyGolden) throws {
        try Self.withFolder(golden) { directory, base in
            let path = directory + "/fused.gguf"
            _ = try FusedGGUF(base.input, type: .f32) { [] }.write(to: path, team: team) { _ in
            }
            let fused = try ModelDirectory.open(path)
            #expect(
                FuseCase.difference(
                    try FuseCase.numbers(fused), try FuseCase.numbers(base.model, base.adapter))
                    == nil)
            Self.expectAlike(base.model.configuration, fused.configuration)
            let metadata = try GGUFFile(path: path).metadata
            for (key, value) in try golden.parts().gguf.metadata {
                #expect(
                    metadata[key] == Self.read(value), "\(key), llama.cpp's conversion writes it")
            }
        }
    }

    /// So are fused modules that are adapted as a whole.
    @Test(
        "modules that hold several projections are changed",
        arguments: ["phi3", "granitemoehybrid"])
    func fusedModules(name: String) throws {
        try Self.withFolder(FamilyGolden(name: name)) { directory, split in
            let base = FuseCase(
                split.model,
                targets: name == "phi3" ? [.queryKeyValue, .output, .gateUp] : [.query, .gateUp])
            let expected = try FuseCase.numbers(base.model, base.adapter)
            let path = directory + "/fused.gguf"
            _ = try FusedGGUF(base.input, type: .f32) { [] }.write(to: path, team: team) { _ in
            }
            #expect(
                FuseCase.difference(try FuseCase.numbers(ModelDirectory.open(path)), expected)
                    == nil)
        }
    }

    @Test(
        "a GGUF file becomes a folder with the same numbers",
        arguments: FamilyGolden.all.filter { $0.name != "ministral3" })
    func foldersOfGGUF(golden: FamilyGolden) throws {
        try Self.withFolder(golden) { directory, split in
            let path = directory + "/base.gguf"
            let input = try FuseInput(model: split.model, adapter: nil)
            _ = try FusedGGUF(input, type: .f32) { [] }.write(to: path, team: team) { _ in }
            let base = FuseCase(try ModelDirectory.open(path))
            let folder = directory + "/folder"
            _ = try FusedFolder(base.input, type: .f32) { [] }.write(
                to: folder, shardBytes: 1 << 30, team: team
            ) { _ in }
            let fused = try ModelDirectory.open(folder)
            #expect(
                FuseCase.difference(
                    try FuseCase.numbers(fused), try FuseCase.numbers(base.model, base.adapter))
                    == nil)
            Self.expectAlike(fused.configuration, base.model.configuration)
        }
    }

    @Test("quantized folders are dequantized", arguments: ["mlx", "nf4", "fp8"])
    func quantized(name: String) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let base = FuseCase(
                try ModelDirectory.open(TestPaths.fixture("quantized/\(name)")))
            let expected = try FuseCase.numbers(base.model, base.adapter)
            _ = try FusedFolder(base.input, type: .f32) { [] }.write(
                to: directory + "/folder", shardBytes: 1 << 30, team: team
            ) { _ in }
            _ = try FusedGGUF(base.input, type: .f32) { [] }.write(
                to: directory + "/file.gguf", team: team
            ) { _ in }
            for output in ["folder", "file.gguf"] {
                let fused = try ModelDirectory.open("\(directory)/\(output)")
                #expect(FuseCase.difference(try FuseCase.numbers(fused), expected) == nil)
            }
        }
    }

    @Test("what a GGUF file cannot state is refused by name")
    func unstated() throws {
        let cases: [(String, String, Any)] = [
            ("smollm3", "no_rope_layers", [1, 1, 0, 1, 1, 1, 0]),
            ("granitemoehybrid", "position_embedding_type", "nope"),
            ("gemma2", "query_pre_attn_scalar", 24),
        ]
        for (name, field, value) in cases {
            try TestPaths.withTemporaryDirectory { directory in
                let model = try FuseCase.folder(
                    FamilyGolden(name: name), in: directory + "/base", setting: [field: value])
                let input = try FuseInput(model: model, adapter: nil)
                #expect(throws: FuseError.self, "\(name)") {
                    try FusedGGUF(input, type: .f32) { [] }
                }
            }
        }
    }

    private static func read(_ value: FamilyGolden.Value) -> GGUFValue {
        if let u = value.u { return .unsigned(UInt64(u)) }
        if let f = value.f { return .float(Double(f)) }
        if let b = value.b { return .bools(b) }
        return .string(value.s ?? "")
    }

    /// Both compute the same, whatever the names in their files.
    private static func expectAlike(_ one: ModelConfiguration, _ other: ModelConfiguration) {
        #expect(one.vocabularySize == other.vocabularySize)
        #expect(one.contextLength == other.contextLength)
        #expect(one.normEpsilon == other.normEpsilon && one.tiedEmbeddings == other.tiedEmbeddings)
        let tables = zip(one.design.rotaryTables, other.design.rotaryTables)
        #expect(one.design.rotaryTables.count == other.design.rotaryTables.count)
        for (left, right) in tables {
            #expect(Float(left.theta) == Float(right.theta) && left.dimension == right.dimension)
            #expect(left.longFrom == right.longFrom && left.longDivisors == right.longDivisors)
            #expect(abs(left.attentionFactor - right.attentionFactor) <= 1e-6)
            #expect(left.divisors?.count == right.divisors?.count)
            for (x, y) in zip(left.divisors ?? [], right.divisors ?? []) {
                #expect(abs(x - y) <= 2e-6 * x)
            }
        }
        var design = other.design
        design.rotaryTables = one.design.rotaryTables
        design.normOffset = one.design.normOffset
        design.names = one.design.names
        for layer in design.blocks.indices {
            design.blocks[layer].projections = one.design.blocks[layer].projections
        }
        #expect(design == one.design)
    }
}
