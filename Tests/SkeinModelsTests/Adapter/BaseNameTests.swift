import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct BaseNameTests {
    @Test(
        "names of one model are alike, however its numbers are kept",
        arguments: [
            ("HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct"),
            ("HuggingFaceTB/SmolLM2-135M-Instruct", "smollm2-135m-instruct-q8_0.gguf"),
            ("unsloth/Llama-3.2-1B-Instruct-bnb-4bit", "meta-llama/Llama-3.2-1B-Instruct"),
            ("/home/me/models/Qwen3-0.6B", "Qwen3-0.6B.Q4_K_M.gguf"),
            ("mlx-community/Qwen3-0.6B-bf16", "Qwen/Qwen3-0.6B"),
            ("bartowski/gemma-3-1b-it-GGUF", "gemma-3-1b-it-IQ4_XS.gguf"),
        ])
    func alike(first: String, second: String) {
        #expect(LoadedAdapter.isAlike(first, second) && LoadedAdapter.isAlike(second, first))
    }

    @Test("a model is called what its own files call it, too, wherever they lie")
    func stated() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            let file = directory + "/weights.gguf"
            func name() throws -> String? {
                try AtomicFile.write(image.bytes(), to: file)
                return try ModelFiles.open(file).statedName
            }
            var names = [try name()]
            image.metadata.removeAll { $0.key == "general.name" }
            names.append(try name())
            image.metadata.append(("general.name", .uint32(7)))
            names.append(try name())
            #expect(names == ["tiny", nil, nil])
        }
        for (value, name) in [("org/tiny", "org/tiny"), (7, nil), (nil, nil)]
            as [((any Sendable)?, String?)]
        {
            try TestPaths.withTemporaryDirectory { directory in
                try TinyModel().writeHuggingFaceFolder(to: directory)
                var configuration = TinyModel().configuration()
                configuration["_name_or_path"] = value
                let data = try JSONSerialization.data(withJSONObject: configuration)
                try AtomicFile.write(Array(data), to: directory + "/config.json")
                #expect(try ModelFiles.open(directory).statedName == name)
            }
        }
    }

    @Test(
        "names of two models are not",
        arguments: [
            ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B-Base"), ("Qwen3-0.6B", "Qwen3-1.7B"),
            ("Llama-3.2-1B", "Llama-3.2-1B-Instruct-Q4_K_M.gguf"), ("gemma-2-2b", "gemma-3-1b"),
            ("Qwen/Qwen2.5-0.5B", "Qwen/Qwen2-0.5B"),
        ])
    func other(first: String, second: String) {
        #expect(!LoadedAdapter.isAlike(first, second) && !LoadedAdapter.isAlike(second, first))
    }
}
