import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinFormats

@Suite struct ModelFilesTests {
    @Test("shards give the weights of the single file")
    func shards() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tiny = TinyModel()
            try tiny.writeHuggingFaceFolder(to: directory)
            let single = try ModelFiles.open(directory)
            try writeShards(of: tiny, to: directory)
            let sharded = try ModelFiles.open(directory)
            #expect(Set(sharded.tensors.keys) == Set(single.tensors.keys))
            #expect(sharded.contentDigest() != single.contentDigest())
            for weight in tiny.weights() {
                #expect(sharded.tensors[weight.name]?.floats() == weight.floats)
            }
            try unlinkFile(directory + "/b.safetensors")
            #expect(
                throws: FormatError.missingFile(path: directory, expected: "b.safetensors")
            ) { _ = try ModelFiles.open(directory) }
        }
    }

    private static let pointer =
        "version https://git-lfs.github.com/spec/v1\noid sha256:"
        + String(repeating: "4d", count: 32) + "\nsize 12345\n"

    @Test("Git LFS pointers and files of other kinds in the place of a model's are named")
    func foreign() throws {
        let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0x19, 0x0A, 0x6B, 2, 0xFF]
        let archive =
            [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 26) + Array("a/data.pkl".utf8)
        let wide: [UInt8] = [0xFF, 0xFE, 0x78, 0, 0x79, 0]
        let rows: [(String, [UInt8], ForeignFile, ForeignFileError.Use)] = [
            ("model.safetensors", Array(Self.pointer.utf8), .pointer, .model),
            ("model.safetensors", gzip, .packed(.gzip), .model),
            ("model.safetensors", archive, .pickle(isTorch: true), .model),
            ("config.json", Array(Self.pointer.utf8), .pointer, .text),
            ("config.json", Array("<!doctype html><html>".utf8), .webPage, .text),
            ("config.json", [0x7B, 0, 0x7D, 0], .wideText(encoding: "UTF-16LE"), .text),
            ("tokenizer_config.json", Array(Self.pointer.utf8), .pointer, .text),
            ("chat_template.jinja", Array(Self.pointer.utf8), .pointer, .text),
            ("chat_template.jinja", wide, .wideText(encoding: "UTF-16"), .text),
        ]
        for (name, bytes, kind, use) in rows {
            try TestPaths.withTemporaryDirectory { directory in
                try TinyModel().writeHuggingFaceFolder(to: directory)
                let path = directory + "/" + name
                try AtomicFile.write(bytes, to: path)
                #expect(throws: ForeignFileError(path: path, kind: kind, use: use), "\(name)") {
                    _ = try ModelFiles.open(directory)
                }
            }
        }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/model"
            for (bytes, kind) in [
                (Array(Self.pointer.utf8), ForeignFile.pointer), (gzip, .packed(.gzip)),
                ([2, 0, 0, 0, 0, 0, 0, 0, 0x7B, 0x7D], .safetensors),
            ] {
                try AtomicFile.write(bytes, to: path)
                #expect(throws: ForeignFileError(path: path, kind: kind, use: .model)) {
                    _ = try ModelFiles.open(path)
                }
            }
        }
    }

    @Test("a folder whose weights are a pickle alone is told so")
    func pickle() throws {
        for name in [
            "pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "consolidated.00.pth",
        ] {
            try TestPaths.withTemporaryDirectory { directory in
                try TinyModel().writeHuggingFaceFolder(to: directory)
                try unlinkFile(directory + "/model.safetensors")
                let path = directory + "/" + name
                try AtomicFile.write("x", to: path)
                #expect(
                    throws: ForeignFileError(path: path, kind: .pickle(isTorch: true), use: .model)
                ) { _ = try ModelFiles.open(directory) }
            }
        }
    }

    private struct Fields: Decodable, Equatable {
        var epsilon: Double?
        var count: Int?
        var range: [Double]?
    }

    @Test("NaN and infinity in fields that are not read, as Python writes them")
    func notFinite() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/config.json"
            func fields(_ text: String) throws -> Fields {
                try AtomicFile.write(text, to: path)
                return try JSONFile.decode(Fields.self, path: path, limit: 1 << 20)
            }
            for text in [
                #"{"time_step_limit": [0.0, Infinity], "epsilon": 1e-5}"#,
                #"{"a":NaN,"b":-Infinity , "c":{"d":[NaN,NaN]},"epsilon":1e-5}"#,
                #"{"a": "\"NaN, ", "b": NaN, "epsilon": 1e-5, "c": [[Infinity]]}"#,
            ] {
                let found = try fields(text)
                #expect(found == Fields(epsilon: 1e-5), "\(text)")
            }
            for (text, field, kind, found) in [
                (#"{"epsilon": NaN}"#, "epsilon", "a finite number", "NaN"),
                (
                    #"{"a": Infinity, "range": [1, -Infinity]}"#, "range.[1]", "a finite number",
                    "-Infinity"
                ),
                (#"{"epsilon": 1e999}"#, "epsilon", "a finite number", "1e999"),
                (#"{"count": Infinity}"#, "count", "an integer", "Infinity"),
                (#"{"count": 1.5}"#, "count", "an integer", "1.5"),
            ] {
                let error = FormatError.badField(
                    path: path, field: field, expected: "\(kind) of 64 bits", found: found)
                #expect(throws: error) { _ = try fields(text) }
            }
            // What Python does not read either.
            for text in [
                "{\"a\": nan}", "{\"a\": +Infinity}", "{\"a\": NaNs}", "{\"a\": -NaN}",
                "{\"a\": NaN", "{NaN: 1}", "{\"a\": 1, NaN: 2}", "[1 NaN]",
                "{\"a\": NaN} x", "{\"a NaN}",
            ] {
                let error = #expect(throws: FormatError.self, "\(text)") { _ = try fields(text) }
                guard case .badJSON(path, let reason)? = error else {
                    Issue.record("\(text): \(String(describing: error))")
                    continue
                }
                #expect(reason.hasPrefix("byte "), "\(text): \(reason)")
            }
        }
    }

    @Test("tekken.json is the tokenizer of a folder that has no other")
    func tekken() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(Array("{}".utf8), to: directory + "/tekken.json")
            let alone = try FolderTokenizer(directory)
            guard case .tekken(directory + "/tekken.json") = alone.source else {
                Issue.record("\(String(describing: alone.source))")
                return
            }
            #expect(alone.sources.map(\.name) == ["tekken.json"])
            try AtomicFile.write([1], to: directory + "/tokenizer.model")
            let both = try FolderTokenizer(directory)
            #expect(both.sources.map(\.name) == ["tokenizer.model"])
        }
    }

    @Test("a shard must hold what the index says, and what it does not list counts, too")
    func index() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let tiny = TinyModel()
            try tiny.writeHuggingFaceFolder(to: directory)
            try writeShards(of: tiny, to: directory)
            let names = tiny.weights().map(\.name)
            let index = directory + "/model.safetensors.index.json"
            func write(_ places: [String: String]) throws {
                let object = ["weight_map": places]
                try AtomicFile.write(
                    Array(JSONSerialization.data(withJSONObject: object)), to: index)
            }
            let places = Dictionary(
                uniqueKeysWithValues: names.enumerated().map {
                    ($1, $0 < 5 ? "a.safetensors" : "b.safetensors")
                })
            try write(places.merging([names[0]: "b.safetensors"]) { $1 })
            #expect(
                throws: FormatError.missingTensor(
                    path: directory + "/b.safetensors", tensor: names[0])
            ) { _ = try ModelFiles.open(directory) }
            try write(places.filter { $0.key != names[3] })
            #expect(try ModelFiles.open(directory).tensors[names[3]] != nil)
            let weight = tiny.weights()[3]
            try SafetensorsWriter.write(
                [.init(name: weight.name, shape: weight.shape, floats: weight.floats)],
                metadata: [:], to: directory + "/b.safetensors")
            try write(
                places.filter { $0.value == "a.safetensors" }.merging(["x": "b.safetensors"]) { $1 }
            )
            #expect(
                throws: FormatError.missingTensor(path: directory + "/b.safetensors", tensor: "x")
            ) {
                _ = try ModelFiles.open(directory)
            }
            try write(
                places.filter { $0.value == "a.safetensors" && $0.key != weight.name }
                    .merging([weight.name: "b.safetensors"]) { $1 })
            // Stored twice: the index says which is meant.
            let chosen = try #require(ModelFiles.open(directory).tensors[weight.name])
            #expect(chosen.path == directory + "/b.safetensors")
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
                _ = try ModelFiles.open(directory)
            }
        }
    }

    @Test("the digest of a folder covers every file, and a GGUF's is the file's own")
    func digests() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            var seen: Set<SHA256.Digest> = [try ModelFiles.open(directory).contentDigest()]
            for name in ["config.json", "tokenizer.json", "tokenizer_config.json"] {
                let text = try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
                try AtomicFile.write(text + "\n", to: "\(directory)/\(name)")
                #expect(seen.insert(try ModelFiles.open(directory).contentDigest()).inserted)
            }
            try AtomicFile.write("{{ x }}", to: directory + "/chat_template.jinja")
            let model = try ModelFiles.open(directory)
            #expect(seen.insert(model.contentDigest()).inserted)
            #expect(model.chatTemplate == "{{ x }}")
            let bytes = TinyModel().gguf().bytes()
            try AtomicFile.write(bytes, to: directory + "/tiny.gguf")
            let gguf = try ModelFiles.open(directory + "/tiny.gguf")
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
                let model = try ModelFiles.open(folder)
                let names = model.files.map(\.name)
                #expect(names == names.sorted() && !names.contains("README.md"))
                #expect(names.contains("config.json") && names.contains("tokenizer.json"))
                try AtomicFile.makeDirectory(folder + "/copy")
                for source in model.files {
                    let bytes = source.file.withBytes { Array($0) }
                    #expect(source.digest() == SHA256.digest(of: bytes))
                    try AtomicFile.write(bytes, to: "\(folder)/copy/\(source.name)")
                }
                let copy = try ModelFiles.open(folder + "/copy")
                #expect(copy.contentDigest() == model.contentDigest())
            }
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let gguf = try ModelFiles.open(directory + "/tiny.gguf")
            #expect(gguf.files.map(\.name) == [""])
            #expect(gguf.files.map { $0.digest() } == [gguf.contentDigest()])
        }
    }

    @Test("of several chat templates the default one is used")
    func templateList() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            let path = directory + "/tokenizer_config.json"
            let list = #"[{"name":"tools","template":"t"},{"name":"default","template":"d"}]"#
            try AtomicFile.write(#"{"chat_template":\#(list)}"#, to: path)
            #expect(try ModelFiles.open(directory).chatTemplate == "d")
            #expect(try ModelFiles.open(directory).namedChatTemplates == ["tools": "t"])
            try AtomicFile.write(#"{"chat_template":null}"#, to: path)
            #expect(try ModelFiles.open(directory).chatTemplate == nil)
            try AtomicFile.write(#"{"chat_template":3}"#, to: path)
            #expect(
                throws: FormatError.badField(
                    path: path, field: "chat_template", expected: "an array",
                    found: "another type")
            ) { _ = try ModelFiles.open(directory) }
        }
    }

    @Test("files of chat templates come before the configuration's; they do not change the digest")
    func templateFiles() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            let list = #"[{"name":"tool_use","template":"t"},{"name":"default","template":"d"}]"#
            try AtomicFile.write(
                #"{"chat_template":\#(list)}"#, to: directory + "/tokenizer_config.json")
            let digest = try ModelFiles.open(directory).contentDigest()
            let folder = directory + "/additional_chat_templates"
            try AtomicFile.makeDirectory(folder)
            try AtomicFile.write("r", to: folder + "/rag.jinja")
            try AtomicFile.write("no template", to: folder + "/README.md")
            var model = try ModelFiles.open(directory)
            #expect(model.chatTemplate == "d" && model.namedChatTemplates == ["rag": "r"])
            #expect(model.contentDigest() == digest)
            try AtomicFile.write("u", to: folder + "/tool_use.jinja")
            try AtomicFile.write("f", to: directory + "/chat_template.jinja")
            model = try ModelFiles.open(directory)
            #expect(model.chatTemplate == "f")
            #expect(model.namedChatTemplates == ["rag": "r", "tool_use": "u"])
            for number in 0..<64 {
                try AtomicFile.write("", to: "\(folder)/\(number).jinja")
            }
            #expect(
                throws: FormatError.overLimit(
                    path: folder, field: "templates", limit: 64, found: 66)
            ) { _ = try ModelFiles.open(directory) }
        }
    }

    @Test("a GGUF file may name further chat templates")
    func templateKeys() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            image.metadata.append(("tokenizer.chat_template.tool_use", .string("u")))
            try AtomicFile.write(image.bytes(), to: directory + "/t.gguf")
            let model = try ModelFiles.open(directory + "/t.gguf")
            #expect(model.namedChatTemplates == ["tool_use": "u"])
            #expect(model.chatTemplate != nil)
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
