import SkeinBasics
import SkeinHub
import Testing

@Suite("which files a model needs")
struct HubSelectionTests {
    private let reference = HubReference(organization: "o", name: "n")

    @Test("a folder needs its configuration, its tokenizer and safetensors, which come last")
    func folder() throws {
        let files = [
            "README.md", "config.json", "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors", "model.safetensors.index.json",
            "pytorch_model.bin", "tokenizer.json", "onnx/model.onnx", "chat_template.jinja",
            "consolidated.safetensors", "original/params.json",
        ]
        #expect(
            try HubSelection.files(of: files, for: reference) == [
                "chat_template.jinja", "config.json", "model.safetensors.index.json",
                "tokenizer.json", "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors",
            ])
    }

    @Test("a GGUF file is had alone, with all of its parts")
    func gguf() throws {
        var named = reference
        named.file = "q/a-00001-of-00002.gguf"
        let files = ["q/a-00001-of-00002.gguf", "q/a-00002-of-00002.gguf", "b.gguf"]
        #expect(try HubSelection.files(of: files, for: named) == Array(files[..<2]))
        #expect(throws: HubError.noFile(repository: "o/n", file: files[1])) {
            try HubSelection.files(of: [files[0]], for: named)
        }
    }

    @Test("a repository of GGUF files wants a name, and lists them")
    func onlyGGUF() {
        #expect(throws: HubError.onlyGGUF(repository: "o/n", files: ["a.gguf", "b.gguf"])) {
            try HubSelection.files(of: ["b.gguf", "a.gguf"], for: reference)
        }
        #expect(throws: HubError.noWeights(repository: "o/n")) {
            try HubSelection.files(of: ["pytorch_model.bin"], for: reference)
        }
    }

    @Test("an adapter needs its configuration; PEFT's weights come before mlx-lm's")
    func adapters() throws {
        let peft = [
            "0000100_adapters.safetensors", "README.md", "adapter_config.json",
            "adapter_model.safetensors", "metadata.json", "tokenizer.json",
            "checkpoint-5/adapter_model.safetensors",
        ]
        let mine = [
            "README.md", "adapter_config.json", "metadata.json", "adapter_model.safetensors",
        ]
        for kind in [HubKind.adapter, nil] {
            #expect(try HubSelection.files(of: peft, for: reference, as: kind) == mine)
        }
        #expect(
            try HubSelection.files(
                of: peft + ["adapters.safetensors"], for: reference, as: .adapter) == mine)
        #expect(
            try HubSelection.files(
                of: ["adapters.safetensors", "adapter_config.json"], for: reference)
                == ["adapter_config.json", "adapters.safetensors"])
        #expect(throws: HubError.noModel(repository: "o/n")) {
            try HubSelection.files(of: peft, for: reference, as: .model)
        }
        // A model beside it is another matter.
        let both = peft + ["config.json", "model.safetensors"]
        #expect(try HubSelection.files(of: both, for: reference, as: .adapter) == mine)
        #expect(
            try HubSelection.files(of: both, for: reference, as: .model)
                == ["config.json", "tokenizer.json", "model.safetensors"])
        let all = try HubSelection.files(of: both, for: reference)
        #expect(Set(all) == Set(mine + ["config.json", "tokenizer.json", "model.safetensors"]))
        #expect(all.suffix(2) == ["model.safetensors", "adapter_model.safetensors"])
    }

    @Test(
        "a repository without an adapter says what it has instead",
        arguments: [
            (["model.safetensors", "config.json"], .model),
            (["adapter_model.safetensors"], .weights),
            (["adapter_config.json", "adapter_model.bin"], .pickle), (["README.md"], .nothing),
            (["checkpoint-5/adapter_model.safetensors"], .nothing),
        ] as [([String], HubError.Remains)])
    func noAdapter(_ files: [String], _ found: HubError.Remains) {
        let error = HubError.noAdapter(repository: "o/n", found: found)
        #expect(throws: error) {
            try HubSelection.files(of: files, for: reference, as: .adapter)
        }
        #expect(error.explanation.status == .badData && !error.explanation.remedy.isEmpty)
    }
}
