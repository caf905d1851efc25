import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct FuseTests {
    private static func withTiny(
        _ tiny: TinyModel = TinyModel(), _ body: (String, FuseCase) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try tiny.writeGGUF(to: path)
            try body(directory, FuseCase(ModelDirectory.open(path)))
        }
    }

    private static func writeGGUF(
        _ input: FuseInput, _ type: ElementType, to path: String, threads: Int = 2
    ) throws -> FuseReport {
        try FusedGGUF(input, type: type) { [] }.write(
            to: path, team: ComputeTeam(threadCount: threads)
        ) { _ in }
    }

    @Test("a fused GGUF file has W + s B A, permuted as the base is", arguments: [false, true])
    func fromGGUF(isTied: Bool) throws {
        var tiny = TinyModel()
        tiny.tiedEmbeddings = isTied
        try Self.withTiny(tiny) { directory, base in
            let path = directory + "/fused.gguf"
            let report = try Self.writeGGUF(base.input, .f32, to: path)
            let fused = try ModelDirectory.open(path)
            #expect(
                FuseCase.difference(
                    try FuseCase.numbers(fused), try FuseCase.numbers(base.model, base.adapter))
                    == nil)
            #expect(fused.configuration == base.model.configuration)
            #expect(fused.configuration.tiedEmbeddings == isTied)
            #expect(report.changedCount == 14 && report.encoded.count == 14)
            #expect(report.deviation.errorSquares == 0)
            let (before, after) = (try Self.metadata(base.model.path), try Self.metadata(path))
            #expect(
                before.filter { $0.key != "general.file_type" }.allSatisfy {
                    after[$0.key] == $0.value
                })
            #expect(after["general.file_type"] == .unsigned(0))
        }
    }

    @Test("an adapted embedding and head are merged, if they are two tensors")
    func edges() throws {
        var tiny = TinyModel()
        tiny.tiedEmbeddings = false
        try Self.withTiny(tiny) { directory, base in
            try AtomicFile.makeDirectory(directory + "/folder")
            try tiny.writeHuggingFaceFolder(to: directory + "/folder")
            for model in [base.model, try ModelDirectory.open(directory + "/folder")] {
                let own = FuseCase(model, targets: [.query] + TargetModule.edges)
                let expected = try FuseCase.numbers(own.model, own.adapter)
                let name = directory + "/" + FilePath.name(of: model.path)
                let report = try Self.writeGGUF(own.input, .f32, to: name + ".fused")
                #expect(report.changedCount == 4)
                _ = try FusedFolder(own.input, type: .f32) { [] }.write(
                    to: name + " fused", shardBytes: 1 << 30, team: ComputeTeam(threadCount: 2)
                ) { _ in }
                for path in [name + ".fused", name + " fused"] {
                    #expect(
                        FuseCase.difference(
                            try FuseCase.numbers(ModelDirectory.open(path)), expected) == nil)
                }
            }
        }
        try Self.withTiny { _, base in
            for edge in TargetModule.edges {
                #expect(throws: FuseError.tiedEdge(module: edge.name)) {
                    try FuseCase(base.model, targets: [.query, edge]).input
                }
            }
        }
    }

    private static func metadata(_ path: String) throws -> [String: GGUFValue] {
        try GGUFFile(path: path).metadata
    }

    @Test("threads do not change a byte", arguments: [ElementType.f16, .q8x0, .q4K])
    func threads(type: ElementType) throws {
        var tiny = TinyModel()
        (tiny.width, tiny.feedForwardWidth) = (256, 512)
        try Self.withTiny(tiny) { directory, base in
            let files = try [1, 2, 3].map { threads in
                let path = directory + "/\(threads).gguf"
                _ = try Self.writeGGUF(base.input, type, to: path, threads: threads)
                return try Data(contentsOf: URL(fileURLWithPath: path))
            }
            #expect(files[0] == files[1] && files[0] == files[2])
        }
    }

    @Test("tensors that stay have the base's bytes, others and the head the types of llama.cpp")
    func types() throws {
        var tiny = TinyModel()
        tiny.weightType = .q8x0
        try Self.withTiny(tiny) { directory, _ in
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let base = FuseCase(model, targets: [.query])
            let path = directory + "/fused.gguf"
            let report = try Self.writeGGUF(base.input, .q8x0, to: path)
            #expect(report.encoded.map(\.name) == ["blk.0.attn_q.weight", "blk.1.attn_q.weight"])
            #expect(report.copiedCount == report.tensorCount - 2)
            let four = try Self.writeGGUF(base.input, .q4K, to: directory + "/four.gguf")
            // Rows of 64 and 128 numbers.
            let file = try GGUFFile(path: directory + "/four.gguf")
            #expect(file.tensors["blk.0.attn_q.weight"]?.elementType == .q5x0)
            #expect(file.tensors["token_embd.weight"]?.elementType == .q8x0)
            #expect(file.tensors["output_norm.weight"]?.elementType == .f32)
            #expect(four.otherTypes.allSatisfy { $0.type == .q5x0 })
        }
    }

    @Test("a fused folder has the base's files, and shards if it must")
    func folder() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let source = directory + "/base"
            try AtomicFile.makeDirectory(source)
            try TinyModel().writeHuggingFaceFolder(to: source)
            let base = FuseCase(try ModelDirectory.open(source))
            let expected = try FuseCase.numbers(base.model, base.adapter)
            for (name, bytes) in [("one", 1 << 30), ("shards", 50_000)] {
                let path = directory + "/" + name
                let report = try FusedFolder(base.input, type: .f32) { [] }.write(
                    to: path, shardBytes: bytes, team: ComputeTeam(threadCount: 2)
                ) { _ in }
                #expect(report.files == (try DiskStore().names(in: path)))
                #expect(report.files.contains("tokenizer.json"))
                #expect(report.files.contains("model.safetensors") == (name == "one"))
                let fused = try ModelDirectory.open(path)
                #expect(fused.configuration == base.model.configuration)
                #expect(FuseCase.difference(try FuseCase.numbers(fused), expected) == nil)
                #expect(fused.chatTemplate == base.model.chatTemplate)
            }
        }
    }

    @Test("config.json says what is written, and keeps the rest as it is spelled")
    func configuration() throws {
        let text = """
            {"a": [1, {"b": "}"}], "torch_dtype": "float32", "quantization": {"bits": 4},
             "eps": 1e-05, "text_config": {"dtype": "float32", "x": "\\"y"}, "quantization_config" : {}}
            """
        #expect(
            try FusedFolder.edited(text, dtype: "bfloat16") == """
                {
                  "a": [1, {"b": "}"}],
                  "torch_dtype": "bfloat16",
                  "eps": 1e-05,
                  "text_config": {
                    "dtype": "bfloat16",
                    "x": "\\"y"
                  }
                }

                """)
        #expect(try FusedFolder.edited("[]", dtype: "float32") == nil)
        #expect(try JSONMembers("{}")?.text() == "{}")
    }

    @Test("a number that is not finite is refused by its tensor, and nothing is left")
    func notFinite() throws {
        try Self.withTiny { directory, base in
            var values = base.adapter.values
            let entry = try #require(base.adapter.shape.layout.entries.last)
            values[entry.offset] = .infinity
            let input = try FuseInput(
                model: base.model,
                adapter: AdapterParameters(shape: base.adapter.shape, values: values))
            let path = directory + "/fused.gguf"
            #expect(
                throws: FuseError.notFinite(
                    tensor: "blk.1.ffn_down.weight", row: 0, type: "F32")
            ) { try Self.writeGGUF(input, .f32, to: path) }
            #expect(try DiskStore().names(in: directory) == ["tiny.gguf"])
        }
    }

    @Test("what ends the work leaves nothing of a folder")
    func stopped() throws {
        struct Stop: Error {}
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.makeDirectory(directory + "/base")
            try TinyModel().writeHuggingFaceFolder(to: directory + "/base")
            let base = FuseCase(try ModelDirectory.open(directory + "/base"))
            var done = 0
            #expect(throws: Stop.self) {
                try FusedFolder(base.input, type: .bf16) { [] }.write(
                    to: directory + "/out", shardBytes: 1 << 30,
                    team: ComputeTeam(threadCount: 1)
                ) { count in
                    done += count
                    if done > 50_000 { throw Stop() }
                }
            }
            #expect(try DiskStore().names(in: directory) == ["base"])
        }
    }

    @Test("an output that exists, or lies in an input, is refused")
    func places() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let base = directory + "/base"
            try AtomicFile.makeDirectory(base)
            func refusal(_ output: String) -> FuseError? {
                do throws(FuseError) {
                    try FusePlace.check(output, against: [base])
                    return nil
                } catch { return error }
            }
            #expect(refusal(base) == .outputExists(path: base))
            #expect(refusal(base + "/new") == .insideInput(path: base + "/new", input: base))
            let dotted = directory + "/other/../base/new/deep"
            #expect(refusal(directory + "/base/./new/deep") != nil && refusal(dotted) == nil)
            #expect(refusal(directory + "/based") == nil)
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/link", withDestinationPath: "nowhere")
            #expect(refusal(directory + "/link/") == .outputExists(path: directory + "/link/"))
        }
    }
}
