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
}
