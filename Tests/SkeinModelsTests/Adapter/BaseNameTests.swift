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
