import SkeinBasics

/// What other tools call a command, and what does it here: mlx-lm, llama.cpp, Ollama, torchtune,
/// Axolotl, Unsloth, the Hub's own, and older skeins. This table is the only place that knows them.
enum ForeignCommands {
    /// What to write instead of a command of another tool.
    ///
    /// - Parameter name: as typed; case and `_` against `-` do not count.
    /// - Returns: nil: the name is none of another tool's.
    static func advice(for name: String) -> String? {
        let wanted = ForeignNames.spelled(name.lowercased())
        return entries.first { $0.names.contains(wanted) }?.advice
    }

    /// Every name of the table, for tests.
    static var all: [String] { entries.flatMap(\.names) }

    private static let entries: [(names: [String], advice: String)] = [
        (
            ["finetune", "fine-tune", "tune", "lora", "qlora", "sft", "fit", "trainer"],
            "write skein train --model M --data D --output RUN"
        ),
        (
            ["dpo", "orpo", "simpo", "kto", "preference"],
            "write skein train --loss dpo --model M --data D --output RUN (`skein train --help all` has "
                + "the other losses)"
        ),
        (["resume", "continue"], "write skein train --resume --output RUN"),
        (["distributed", "torchrun", "accelerate"], "write skein launch or skein join"),
        (
            ["merge", "merge-lora", "export-hf"],
            "write skein fuse --model M --adapter RUN --output FUSED, a folder or NAME.gguf"
        ),
        (
            ["convert", "quantize", "quantise", "gguf", "convert-hf-to-gguf"],
            "write skein fuse --model M --adapter RUN --output NAME.gguf --type Q8_0 for base and "
                + "adapter as one file; skein export for the adapter alone"
        ),
        (
            ["chat", "talk", "interactive", "repl"],
            "write skein serve, which has a chat page; skein generate for one answer"
        ),
        (
            ["run", "infer", "inference", "predict", "complete", "completion", "prompt", "answer"],
            "write skein generate --model M --prompt TEXT; skein train begins a run"
        ),
        (["server", "api", "openai"], "write skein serve --model M"),
        (["download", "fetch", "get", "clone"], "write skein pull ORG/NAME"),
        (
            ["push", "upload", "publish"],
            "a run's folder `adapter` is as the Hub has it: hf upload ORG/NAME RUN/adapter"
        ),
        (
            ["eval", "test", "perplexity", "ppl", "score", "validate", "lm-eval"],
            "write skein evaluate --model M --data FILE"
        ),
        (
            ["verify", "check", "audit"],
            "write skein inspect RUN --verify-ledger; skein data FILE --check --model M for rows"
        ),
        (["show", "info", "describe", "cat"], "write skein inspect PATH"),
        (["ps", "top", "watch", "progress", "list", "ls"], "write skein status RUN"),
        (["plot", "graph", "compare", "dashboard", "tensorboard"], "write skein report RUN..."),
        (["tokenizer", "encode", "decode"], "write skein tokenize --model M TEXT"),
        (["dataset", "rows", "preprocess", "prepare"], "write skein data FILE --model M"),
        (
            ["sweep", "tune-parameters", "grid"],
            "write skein train --sweep FILE --model M --data D --output RUNS"
        ),
        // `bench` was a command; a release has no skein-lab.
        (
            ["bench", "benchmark", "chaos"],
            "write skein-lab bench WHAT (`skein-lab bench --help` lists it); `swift build -c release "
                + "--product skein-lab` builds that program from the source"
        ),
    ]
}
