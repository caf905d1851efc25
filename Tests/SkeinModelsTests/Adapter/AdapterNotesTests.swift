import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite("what stands beside an adapter")
struct AdapterNotesTests {
    /// Writes an adapter's folder.
    private func make(_ folder: String, _ files: [String: String]) throws {
        try AtomicFile.makeDirectory(folder)
        for (name, text) in files { try AtomicFile.write(text, to: FilePath.join(folder, name)) }
    }

    private func text(_ folder: String, _ name: String) throws -> String {
        String(
            decoding: try RegularFile.bytes(
                of: FilePath.join(folder, name), from: 0, limit: 1 << 20), as: UTF8.self)
    }

    /// Copies the notes from one folder to another.
    private func copy(
        from source: String, _ old: any AdapterFormat, to target: String, _ new: any AdapterFormat
    ) throws {
        try AdapterNotes(of: source) { Issue.record("\($0)") }.write(
            to: target, new, from: AdapterNotes.Weights(of: source, old),
            to: AdapterNotes.Weights(of: target, new))
    }

    private static let card = """
        ---
        base_model: "o/n"
        library_name: peft
        tags:
        - lora
        ---

        # LoRA adapter
        library_name: peft
        """

    @Test("card and metadata of the same weights are copied byte for byte")
    func same() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (source, target) = (directory + "/a", directory + "/b")
            let metadata = "{\"creatorDefined\": {\"tone\": 3}}"
            try make(
                source,
                [
                    "adapter_model.safetensors": "w", "README.md": Self.card,
                    "metadata.json": metadata, "other.txt": "no",
                ])
            try make(target, ["adapter_model.safetensors": "w"])
            let notes = AdapterNotes(of: source) { Issue.record("\($0)") }
            #expect(notes.names == ["README.md", "metadata.json"])
            #expect(AdapterNotes.names(in: source) == notes.names)
            try copy(from: source, PEFTAdapter(), to: target, PEFTAdapter())
            #expect(try text(target, "README.md") == Self.card)
            #expect(try text(target, "metadata.json") == metadata)
            #expect(!DiskStore().exists(target + "/other.txt"))
        }
    }

    @Test("a card of other files names their library and says what they are")
    func exported() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (source, target) = (directory + "/a", directory + "/b")
            try make(source, ["adapter_model.safetensors": "w", "README.md": Self.card])
            try make(target, ["adapters.safetensors": "v"])
            try copy(from: source, PEFTAdapter(), to: target, MLXAdapter())
            let found = try text(target, "README.md")
            let old = try AdapterNotes.Weights(of: source, PEFTAdapter()).digest
            let new = try AdapterNotes.Weights(of: target, MLXAdapter()).digest
            #expect(
                found == Self.card.replacing(
                    "library_name: peft\ntags", with: "library_name: mlx\ntags")
                        + """


                        ## Exported

                        These are MLX's files of an adapter. adapters.safetensors has the SHA-256 `\(new)`; \
                        adapter_model.safetensors, of which this card was written, has `\(old)`.

                        """)
            #expect(!DiskStore().exists(target + "/metadata.json"))
        }
    }

    @Test("a card without front matter, a missing one and one that is too long")
    func odd() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let source = directory + "/a"
            for card in [
                "", "---\nlibrary_name: peft\n", "\n---\nlibrary_name: peft\n---\n", "---",
            ] {
                try make(source, ["adapter_model.safetensors": "w", "README.md": card])
                try copy(from: source, PEFTAdapter(), to: source, PEFTAdapter())
                #expect(try text(source, "README.md") == card)
            }
            for path in [directory, directory + "/adapter.gguf"] {
                #expect(AdapterNotes(of: path) { Issue.record("\($0)") }.names.isEmpty)
                #expect(AdapterNotes.names(in: path).isEmpty)
            }
        }
    }

    @Test("a card or metadata that cannot be taken along is left behind with a word, not an error")
    func left() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let source = directory + "/a"
            try make(source, ["metadata.json": String(repeating: " ", count: (1 << 20) + 1)])
            try AtomicFile.makeDirectory(source + "/README.md")
            var said: [String] = []
            #expect(AdapterNotes(of: source) { said.append($0) }.names.isEmpty)
            #expect(said.count == 2)
            #expect(said.first?.contains("README.md is left behind: this is a directory") == true)
            #expect(said.last?.contains("more than 1048576 bytes") == true)
        }
    }
}
