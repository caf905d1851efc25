import SkeinBasics

/// What people type who come from other tools: mlx-lm, PEFT, TRL, transformers, torchrun, llama.cpp, vLLM.
///
/// A name that means exactly what an option of ours means is taken for it. One that means something near
/// it is an error that says what to write instead. This table is the only place that knows them.
enum ForeignNames {
    /// What a name stands for in a command.
    enum Meaning: Equatable {
        /// The option of this name, without dashes.
        case option(String)
        /// What to write instead.
        case advice(String)
    }

    /// Names with their dashes.
    private struct Entry {
        let names: [String]
        let meaning: Meaning
        /// Holds in a command that has one of these options; empty: in all.
        let options: [String]
    }

    /// What a name means in a command.
    ///
    /// - Parameters:
    ///   - name: with its dashes; `_` counts as `-`.
    ///   - table: of the command. An option of its own comes first, and is not looked for here.
    /// - Returns: nil: the name is none of another tool's.
    static func meaning(of name: String, in table: ArgumentTable) -> Meaning? {
        let dashed = spelled(name)
        return entries.first { entry in
            entry.names.contains(dashed)
                && (entry.options.isEmpty || entry.options.contains { has($0, table) })
        }?.meaning
    }

    /// Other tools' names of an option, for the pages that show all.
    static func names(of option: String, in table: ArgumentTable) -> [String] {
        entries.filter { $0.meaning == .option(option) }.flatMap(\.names).filter {
            meaning(of: $0, in: table) == .option(option)
        }
    }

    /// Every name of the table, for tests.
    static var all: [String] { entries.flatMap(\.names) }

    /// With `-` between words: torchrun, vLLM and others take both.
    static func spelled(_ name: String) -> String { name.replacing("_", with: "-") }

    private static func has(_ name: String, _ table: ArgumentTable) -> Bool {
        table.option(named: name).map { !$0.isRetired } ?? false
    }

    private static func same(_ option: String, _ names: String...) -> Entry {
        Entry(names: names, meaning: .option(option), options: [option])
    }

    private static func advice(
        _ text: String, in options: [String] = [], _ names: String...
    ) -> Entry {
        Entry(names: names, meaning: .advice(text), options: options)
    }

    /// Advice stands before what is the same in other commands.
    private static let entries: [Entry] = training + answering + serving + files + everywhere

    /// The commands that train.
    private static let run = ["learning-rate"]

    private static let training: [Entry] = [
        same("learning-rate", "--lr"),
        same("iterations", "--iters", "--max-steps", "--max-iters", "--num-steps", "--steps"),
        same("epochs", "--num-epochs", "--num-train-epochs", "--n-epochs"),
        same("batch-size", "--bs"),
        same("rank", "--lora-rank", "--lora-r", "-r", "--r"),
        same("alpha", "--lora-alpha"),
        same("dropout", "--lora-dropout"),
        same("target-modules", "--lora-target-modules"),
        same("layers", "--num-layers", "--lora-layers"),
        same("rslora", "--use-rslora"),
        same("dora", "--use-dora"),
        same("max-length", "--max-seq-length", "--max-seq-len", "--cutoff-len"),
        same("schedule", "--lr-scheduler-type", "--lr-scheduler", "--lr-schedule"),
        same("warmup-steps", "--warmup"),
        same("weight-decay", "--wd"),
        same("max-grad-norm", "--clip-grad-norm", "--grad-clip"),
        same("beta1", "--adam-beta1"),
        same("beta2", "--adam-beta2"),
        same("epsilon", "--adam-epsilon"),
        same("gradient-checkpointing", "--grad-checkpoint", "--grad-checkpointing"),
        same("report-every", "--steps-per-report", "--logging-steps", "--log-every"),
        same("checkpoint-every", "--save-every", "--save-steps"),
        same("keep-checkpoints", "--save-total-limit"),
        same("validation-split", "--val-split", "--val-set-size"),
        same("valid-data", "--val-data", "--eval-data", "--validation-file"),
        same("neftune-alpha", "--neftune-noise-alpha"),
        same("label-smoothing", "--label-smoothing-factor"),
        advice(
            "write --batch-size N, the rows of a step over all machines; --micro-batch-tokens says how "
                + "many tokens are computed together",
            in: run, "--per-device-train-batch-size", "--gradient-accumulation-steps",
            "--grad-accumulation-steps", "--micro-batch-size", "--train-batch-size"),
        advice(
            "write --validate-every N: validations follow each epoch, too, and the best adapter is "
                + "kept", in: run, "--steps-per-eval", "--eval-steps", "--eval-every",
            "--eval-strategy", "--evaluation-strategy"),
        advice(
            "leave it out: all validation rows are read; --validation-split says how many there are",
            in: run, "--val-batches", "--test-batches", "--per-device-eval-batch-size"),
        advice("write --test-data FILE", in: run, "--test"),
        advice("leave it out: this command trains", in: run, "--train", "--do-train"),
        advice(
            "write --init-adapter PATH to start from an adapter; a run of Skein itself goes on with "
                + "--resume --output RUN", in: run, "--resume-adapter-file",
            "--resume-from-checkpoint", "--adapter", "--adapter-path", "--checkpoint"),
        advice(
            "leave it out: the optimizer is AdamW, and what is trained is LoRA (--dora on: DoRA)",
            in: run, "--optimizer", "--optim", "--fine-tune-type", "--use-peft"),
        advice(
            "leave it out: loss is on completions and assistant turns alone; --train-on last takes the "
                + "last turn", in: run, "--mask-prompt", "--completion-only-loss",
            "--assistant-only-loss", "--train-on-inputs"),
        advice(
            "leave it out: rows are computed at their own length, and none is padded", in: run,
            "--packing", "--group-by-length", "--pad-to-max-length"),
        advice(
            "leave it out: weights are used in the type that their file has, such as Q4_K", in: run,
            "--load-in-4bit", "--load-in-8bit", "--use-4bit", "--quantization"),
        advice(
            "write --status HOST:PORT, --tensorboard DIR or --mlflow URL", in: run, "--report-to",
            "--wandb", "--wandb-project", "--project-name"),
        advice(
            "write --data PATH, a file or folder with the rows", in: run, "--dataset-name",
            "--dataset", "--train-file", "--train-data", "--data-path"),
        advice(
            "write `skein launch --local N` for processes on this machine, `skein launch --hosts FILE` "
                + "for several, or start `skein join` by torchrun", in: run, "--nproc-per-node",
            "--nnodes", "--num-processes", "--num-machines", "--world-size"),
        advice(
            "write `skein join --coordinator HOST:PORT`; --task-rank says which task this is",
            in: run,
            "--node-rank", "--machine-rank", "--rdzv-endpoint", "--rdzv-backend", "--rdzv-id",
            "--master-addr", "--master-port", "--main-process-ip", "--main-process-port"),
    ]

    private static let answering: [Entry] = [
        same("prompt", "-p"),
        same("max-tokens", "-n", "--n-predict", "--max-new-tokens", "--predict"),
        same("temperature", "--temp"),
        same("system", "--system-prompt", "-sys"),
        same("regex", "--guided-regex"),
        advice(
            "write --repetition-penalty X: it reads the prompt and the whole answer, not the last 64 "
                + "tokens", in: ["repetition-penalty"], "--repeat-penalty", "--repeat-last-n"),
        advice("write --schema FILE", in: ["schema"], "--json-schema", "-j", "--guided-json"),
        advice(
            "write --prompt - and the text on standard input: skein generate --prompt - ... < FILE",
            in: ["prompt"], "-f", "--file", "--prompt-file"),
        advice(
            "leave it out: a conversation is the chat template's; --raw is without it", in: ["raw"],
            "-cnv", "--conversation", "--no-conversation", "-no-cnv", "--ignore-chat-template"),
    ]

    private static let serving: [Entry] = [
        same("name", "--served-model-name", "--alias", "-a"),
        same("context", "--max-model-len"),
        same("parallel", "--max-num-seqs", "-np", "--n-parallel"),
        same("max-rank", "--max-lora-rank"),
        same("max-adapters", "--max-cpu-loras"),
        same("no-request-log", "--disable-log-requests"),
        advice("write --listen HOST:PORT", in: ["listen"], "--host", "--port"),
        advice("write --coordinator HOST:PORT", in: ["coordinator"], "--host", "--port"),
        advice(
            "write --status HOST:PORT for a page that shows the run; `skein coordinator --listen "
                + "HOST:PORT` trains on several machines", in: run, "--host", "--port"),
        advice(
            "write --api-key-file FILE, so that others on this machine cannot read the key",
            in: ["api-key-file"], "--api-key"),
        advice(
            "write --cors-origin ORIGIN", in: ["cors-origin"], "--allowed-origins",
            "--allow-origins", "--cors"),
        advice(
            "write --adapter NAME=PATH once for each: requests name it as their model",
            in: ["api-key-file"], "--lora", "--lora-modules", "--enable-lora", "--adapter-path",
            "--lora-scaled"),
        advice("write --max-adapters N", in: ["max-adapters"], "--max-loras"),
        advice(
            "write --context N, of one prompt and its answer", in: ["context"], "--ctx-size", "-c"),
        advice(
            "write --cache-type fp32, bf16 or int8", in: ["cache-type"], "--kv-cache-dtype", "-ctk",
            "-ctv", "--cache-type-k", "--cache-type-v"),
        advice(
            "leave it out: tools are read as the model's template writes them",
            in: ["api-key-file"], "--enable-auto-tool-choice", "--tool-call-parser", "--jinja"),
    ]

    private static let files: [Entry] = [
        same("model", "-m", "--model-path", "--model-name-or-path", "--base-model"),
        same("output", "-o", "--output-dir", "--save-path", "--out"),
        same("adapter", "--adapter-path", "--lora"),
        same("type", "--outtype"),
        advice(
            "write --format gguf, or an --output that ends in .gguf", in: ["max-shard-size"],
            "--export-gguf", "--gguf-path"),
        advice(
            "write --type F16: matrices are written in this type", in: ["max-shard-size"],
            "--dequantize", "--de-quantize"),
    ]

    private static let everywhere: [Entry] = [
        same("threads", "-t", "--num-threads", "--n-threads"),
        same("seed", "--random-seed"),
        advice(
            "write --compute bf16, int8 or fp32", in: ["compute"], "--dtype",
            "--torch-dtype", "--bf16", "--fp16"),
        advice(
            "leave it out: Skein computes on processors", "-ngl", "--n-gpu-layers",
            "--gpu-layers", "--device", "--gpus", "--tensor-parallel-size", "-tp",
            "--gpu-memory-utilization", "--no-cuda"),
        advice(
            "leave it out: progress goes to standard error, and --log-format json says more; `skein "
                + "--version` prints the version", in: ["log-format"], "-v", "--verbose"),
        advice("write `skein --version` for the version", "-v", "-V", "--verbose"),
        advice("write 2>/dev/null: progress goes to standard error", "-q", "--quiet", "--silent"),
        advice(
            "leave it out: no code of a model is run", "--trust-remote-code"),
    ]
}
