import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinCommands

/// Command lines of people who do not know the program yet: each error says what to write.
@Suite struct MistakenWordsTests {
    private static func error(_ words: [String], status: Int32 = 64) -> String {
        let process = CapturedProcess()
        #expect(CommandLineTool.skein.run(words, process.io()) == status, "\(words)")
        return process.error
    }

    @Test(
        "what other tools call a command is answered with what does it here",
        arguments: [
            ("merge", "skein fuse"), ("chat", "skein serve"), ("finetune", "skein train"),
            ("fine-tune", "skein train"), ("fine_tune", "skein train"), ("lora", "skein train"),
            ("convert", "skein fuse"), ("quantize", "skein fuse"), ("download", "skein pull"),
            ("eval", "skein evaluate"), ("perplexity", "skein evaluate"),
            ("run", "skein generate"), ("push", "hf upload"), ("dpo", "--loss dpo"),
            ("resume", "skein train --resume"), ("show", "skein inspect"),
            ("ps", "skein status"), ("verify", "--verify-ledger"),
        ])
    func commands(word: String, remedy: String) {
        let error = Self.error([word, "--model", "m"])
        #expect(error.contains("there is no command \"\(word)\""))
        #expect(error.contains("fix: ") && error.contains(remedy), "\(error)")
        #expect(Self.error(["help", word]) == error)
    }

    @Test("several files after one option are told to be one value with commas")
    func severalFiles() {
        let train = ["train", "--model", "m", "--output", "o", "--data", "a.jsonl"]
        #expect(
            Self.error(train + ["b.jsonl", "c.jsonl"]) == """
                error: --data takes one value, and "b.jsonl" is a second one
                  at: skein train
                  fix: write several with commas: --data a.jsonl,b.jsonl,c.jsonl

                """)
        for option in ["valid-data", "test-data", "target-modules"] {
            let values = option == "target-modules" ? ["q_proj", "v_proj"] : ["a", "b"]
            let error = Self.error(["train", "--" + option] + values)
            #expect(error.contains("--\(option) \(values[0]),\(values[1])"))
            #expect(!error.contains("folder"))
        }
        // What is no list, and a word that does not follow the option.
        for words in [
            ["train", "--output", "o", "b"], ["train", "--data", "a", "--rank", "4", "b"],
            ["serve", "--name", "hello", "world"], ["train", "--schedule", "linear", "x"],
            ["train", "a"],
        ] {
            #expect(Self.error(words).contains("quote a value that contains blanks"), "\(words)")
        }
    }

    @Test("a seed that is too large is told the largest one")
    func seed() {
        for words in [["train"], ["generate", "--prompt", "p"]] {
            #expect(
                Self.error(words + ["--seed", "18446744073709551615"]).contains(
                    "a whole number from 0 to 9223372036854775807"))
        }
    }

    @Test("fuse says which output has a type that a folder has not")
    func fuseType() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let error = Self.error([
                "fuse", "--model", directory + "/tiny.gguf", "--adapter",
                TestPaths.fixture("adapters") + "/peft", "--output", directory + "/out", "--type",
                "Q8_0",
            ])
            #expect(error.contains("a Hugging Face folder has no type Q8_0"))
            #expect(error.contains("--type F32, F16, BF16, or an --output that ends in .gguf"))
        }
    }

    @Test("--resume alone asks for the folder, and for no more than a run has not in it")
    func resumeAlone() {
        for command in ["train", "coordinator"] {
            #expect(
                Self.error(
                    [command, "--resume"] + (command == "train" ? [] : ["--listen", "127.0.0.1:0"])
                )
                .contains("error: --output is missing\n"))
        }
        #expect(Self.error(["train"]).contains("--model, --data and --output are missing"))
    }

    @Test("--resume of a folder where nothing is names the folder")
    func resumeNothing() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            for folder in [directory, directory + "/nodir2"] {
                #expect(
                    Self.error(["train", "--resume", "--output", folder]) == """
                        error: there is no run at \(folder)
                          at: skein train
                          fix: check --output; to begin a run there, add --model PATH --data PATH

                        """)
            }
            #expect(
                Self.error(["train", "--resume", "--output", "x", "--model", "m"]).contains(
                    "to begin a run there, add --data PATH\n"))
        }
    }

    @Test("--resume with all that a run needs begins it where there is none, and says so")
    func resumeBegins() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<4).map { "{\"prompt\": \"\($0)\", \"completion\": \"answer\"}\n" }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            func lines(_ words: String...) -> [String] {
                let log = Mutex<[String]>([])
                let process = CapturedProcess()
                let status = CommandLineTool.skein.run(
                    [
                        "train", "--model", directory + "/tiny.gguf", "--data",
                        directory + "/rows.jsonl", "--output", directory + "/run", "--threads",
                        "1", "--no-token-cache", "--iterations", "1",
                    ] + words,
                    process.io(log: Log { _, text in log.withLock { $0.append(text) } }))
                #expect(status == 0, "\(process.error)")
                return log.withLock { $0 }.filter { $0.contains("nothing to resume") }
            }
            let sentence = "nothing to resume in \(directory)/run: the run begins"
            #expect(lines("--resume") == [sentence])
            // Now there is one.
            #expect(lines("--resume").isEmpty)
        }
    }
}
