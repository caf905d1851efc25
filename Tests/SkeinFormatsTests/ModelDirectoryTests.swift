import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct ModelDirectoryTests {
    @Test("a folder and a GGUF file of one model hold the same weights", arguments: [true, false])
    func bothForms(tied: Bool) throws {
        var tiny = TinyModel()
        tiny.tiedEmbeddings = tied
        tiny.seed = 5
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeHuggingFaceFolder(to: directory)
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let folder = try ModelDirectory.open(directory)
            let gguf = try ModelDirectory.open(directory + "/tiny.gguf")
            #expect(folder.configuration == gguf.configuration)
            #expect(folder.configuration.tiedEmbeddings == tied)
            #expect(folder.weightBytes == gguf.weightBytes)
            #expect(folder.chatTemplate == gguf.chatTemplate && folder.chatTemplate != nil)
            #expect(folder.has("lm_head.weight") == !tied)
            for weight in tiny.weights() {
                #expect(try folder.tensor(weight.name).floats() == weight.floats)
                #expect(try gguf.tensor(weight.name).floats() == weight.floats)
                #expect(try gguf.tensor(weight.name).shape == weight.shape)
            }
            #expect(throws: FormatError.missingTensor(path: directory, tensor: "x")) {
                _ = try folder.tensor("x")
            }
        }
    }

    @Test("any range of rows is the same part of the whole, permuted or not")
    func rowRanges() throws {
        var tiny = TinyModel()
        tiny.weightType = .q4x0
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            for name in ["self_attn.q_proj", "self_attn.v_proj"] {
                let view = try model.tensor("model.layers.1.\(name).weight")
                let whole = view.floats()
                for range in [0..<1, 5..<23, 9..<9, 0..<view.rows, (view.rows - 1)..<view.rows] {
                    var part = [Float](repeating: .nan, count: range.count * view.columns)
                    part.withUnsafeMutableBufferPointer { buffer in
                        if let out = buffer.baseAddress { view.dequantize(rows: range, into: out) }
                    }
                    let start = range.lowerBound * view.columns
                    #expect(part == Array(whole[start..<(start + part.count)]), "\(name) \(range)")
                }
            }
        }
    }

    @Test("quantized tiny models stay near their weights", arguments: TinyModel.WeightType.allCases)
    func quantized(type: TinyModel.WeightType) throws {
        var tiny = TinyModel()
        tiny.weightType = type
        try TestPaths.withTemporaryDirectory { directory in
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let bound: Float = type == .f32 ? 0 : type == .q8x0 ? 0.002 : 0.04
            for weight in tiny.weights() where weight.shape.count == 2 {
                let floats = try model.tensor(weight.name).floats()
                let worst = zip(floats, weight.floats).map { abs($0 - $1) }.max() ?? 1
                #expect(worst <= bound, "\(weight.name)")
            }
        }
    }

    @Test("shards give the weights of the single file")
    func shards() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tiny = TinyModel()
            try tiny.writeHuggingFaceFolder(to: directory)
            let single = try ModelDirectory.open(directory)
            try writeShards(of: tiny, to: directory)
            let sharded = try ModelDirectory.open(directory)
            #expect(sharded.weightBytes == single.weightBytes)
            #expect(sharded.contentDigest() != single.contentDigest())
            for weight in tiny.weights() {
                #expect(try sharded.tensor(weight.name).floats() == weight.floats)
            }
            try unlinkFile(directory + "/b.safetensors")
            #expect(
                throws: FormatError.missingFile(path: directory, expected: "b.safetensors")
            ) { _ = try ModelDirectory.open(directory) }
        }
    }

    @Test(
        "an index that names a file outside the folder is refused",
        arguments: ["/etc/passwd", "../x.safetensors", "..", "sub/x.safetensors", ""])
    func badShardNames(name: String) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            try unlinkFile(directory + "/model.safetensors")
            let index = directory + "/model.safetensors.index.json"
            try AtomicFile.write(#"{"weight_map":{"a":"\#(name)"}}"#, to: index)
            #expect(throws: FormatError.badShardName(path: index, found: name)) {
                _ = try ModelDirectory.open(directory)
            }
        }
    }

    @Test("the digest of a folder covers every file, and a GGUF's is the file's own")
    func digests() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            var seen: Set<SHA256.Digest> = [try ModelDirectory.open(directory).contentDigest()]
            for name in ["config.json", "tokenizer.json", "tokenizer_config.json"] {
                let text = try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
                try AtomicFile.write(text + "\n", to: "\(directory)/\(name)")
                #expect(seen.insert(try ModelDirectory.open(directory).contentDigest()).inserted)
            }
            try AtomicFile.write("{{ x }}", to: directory + "/chat_template.jinja")
            let model = try ModelDirectory.open(directory)
            #expect(seen.insert(model.contentDigest()).inserted)
            #expect(model.chatTemplate == "{{ x }}")
            let bytes = TinyModel().gguf().bytes()
            try AtomicFile.write(bytes, to: directory + "/tiny.gguf")
            let gguf = try ModelDirectory.open(directory + "/tiny.gguf")
            #expect(gguf.contentDigest() == SHA256.digest(of: bytes))
        }
    }

    @Test("a copy of the files that a model names is the same model")
    func files() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tiny = TinyModel()
            for isSharded in [false, true] {
                let folder = "\(directory)/\(isSharded)"
                try AtomicFile.makeDirectory(folder)
                try tiny.writeHuggingFaceFolder(to: folder)
                if isSharded { try writeShards(of: tiny, to: folder) }
                try AtomicFile.write("not of the model", to: folder + "/README.md")
                let model = try ModelDirectory.open(folder)
                let names = model.files.map(\.name)
                #expect(names == names.sorted() && !names.contains("README.md"))
                #expect(names.contains("config.json") && names.contains("tokenizer.json"))
                try AtomicFile.makeDirectory(folder + "/copy")
                for source in model.files {
                    let bytes = source.file.withBytes { Array($0) }
                    #expect(source.digest() == SHA256.digest(of: bytes))
                    try AtomicFile.write(bytes, to: "\(folder)/copy/\(source.name)")
                }
                let copy = try ModelDirectory.open(folder + "/copy")
                #expect(copy.contentDigest() == model.contentDigest())
            }
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let gguf = try ModelDirectory.open(directory + "/tiny.gguf")
            #expect(gguf.files.map(\.name) == [""])
            #expect(gguf.files.map { $0.digest() } == [gguf.contentDigest()])
        }
    }

    @Test("of a list of chat templates the default one is taken")
    func templateList() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            let path = directory + "/tokenizer_config.json"
            let list = #"[{"name":"tools","template":"t"},{"name":"default","template":"d"}]"#
            try AtomicFile.write(#"{"chat_template":\#(list)}"#, to: path)
            #expect(try ModelDirectory.open(directory).chatTemplate == "d")
            try AtomicFile.write(#"{"chat_template":null}"#, to: path)
            #expect(try ModelDirectory.open(directory).chatTemplate == nil)
            try AtomicFile.write(#"{"chat_template":3}"#, to: path)
            #expect(
                throws: FormatError.badField(
                    path: path, field: "chat_template", expected: "an array",
                    found: "another type")
            ) { _ = try ModelDirectory.open(directory) }
        }
    }

    private func writeShards(of tiny: TinyModel, to directory: String) throws {
        try unlinkFile(directory + "/model.safetensors")
        let tensors = tiny.weights().map {
            SafetensorsWriter.Tensor(name: $0.name, shape: $0.shape, floats: $0.floats)
        }
        var places: [String: String] = [:]
        for (name, part) in [("a.safetensors", tensors[..<5]), ("b.safetensors", tensors[5...])] {
            try SafetensorsWriter.write(Array(part), metadata: [:], to: "\(directory)/\(name)")
            for tensor in part { places[tensor.name] = name }
        }
        let index = ["weight_map": places]
        try AtomicFile.write(
            Array(JSONSerialization.data(withJSONObject: index)),
            to: directory + "/model.safetensors.index.json")
    }

    private func unlinkFile(_ path: String) throws {
        try FileManager.default.removeItem(atPath: path)
    }
}
