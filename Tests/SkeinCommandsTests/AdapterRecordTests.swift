import SkeinBasics
import SkeinTestSupport
import SkeinText
import SkeinTraining
import Synchronization
import Testing

@testable import SkeinCommands

/// What an adapter's own record, and the run around it, say to the commands that use it.
@Suite struct AdapterRecordTests {
    private static let template = """
        {% if a is defined %}{{ a }}{% endif %}{% for m in messages %}\
        {{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' }}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
        """

    private struct Place {
        let directory: String

        /// Runs `skein COMMAND` on the tiny model; a word that is the name of a file here is its path.
        func run(_ words: [String]) throws -> (status: Int32, output: String, error: String) {
            let process = CapturedProcess()
            let said = Mutex("")
            let given = words.map { word in
                DiskStore().exists(directory + "/" + word) || word == "run"
                    ? directory + "/" + word : word
            }
            let status = CommandLineTool.skein.run(
                given + ["--model", directory + "/tiny.gguf", "--threads", "1"],
                process.io(log: Log(to: { _, line in said.withLock { $0 += line + "\n" } })))
            return (status, process.output, process.error + said.withLock { $0 })
        }
    }

    private func withPlace(_ body: (Place) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(TinyModel().gguf().bytes(), to: directory + "/tiny.gguf")
            let rows = ["the", "in", "of", "he", "th"].map {
                "{\"prompt\": \"\($0)\", \"completion\": \"in \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            try AtomicFile.write(
                rows[0] + rows[0].replacing("in the", with: "of"),
                to: directory + "/one.jsonl")
            try AtomicFile.makeDirectory(directory + "/other")
            for name in ["t.jinja", "other/same.jinja"] {
                try AtomicFile.write(Self.template, to: directory + "/" + name)
            }
            try AtomicFile.write("{{ '' }}" + Self.template, to: directory + "/other/t.jinja")
            try body(Place(directory: directory))
        }
    }

    private static let train = [
        "train", "--data", "rows.jsonl", "--output", "run", "--iterations", "1", "--rank", "1",
    ]

    @Test("an adapter that was trained with another template or argument says so where it is used")
    func otherText() throws {
        try withPlace { place in
            let trained = try place.run(
                Self.train + ["--chat-template", "t.jinja", "--template-argument", "a=of"])
            #expect(trained.status == 0, "\(trained.error)")
            let ask = [
                "generate", "--adapter", "run/adapter", "--prompt", "he", "--max-tokens", "1",
            ]
            let bare = try place.run(ask)
            #expect(bare.status == 0)
            #expect(
                bare.error.contains("trained with --chat-template t.jinja, and is used without"))
            #expect(bare.error.contains("--template-argument a=of, and is used without"))
            // The same bytes under another name are the same template.
            let same = try place.run(
                ask + ["--chat-template", "other/same.jinja", "--template-argument", "a=of"])
            #expect(
                same.status == 0 && !same.error.contains("than it has learned"), "\(same.error)")
            let other = try place.run(
                ask + ["--chat-template", "other/t.jinja", "--template-argument", "{\"a\":\"of\"}"])
            #expect(other.error.contains("--chat-template t.jinja, and is used with"))
            #expect(!other.error.contains("template-argument"))
            let raw = try place.run(ask + ["--raw"])
            #expect(raw.error.contains("with a chat template, and is used without one"))
            let evaluated = try place.run(
                ["evaluate", "--adapter", "run/adapter", "--data", "one.jsonl"])
            #expect(evaluated.error.contains("--chat-template t.jinja, and is used without"))
        }
    }

    @Test(
        "a base whose own template differs, or that has none, is remarked on, if any base will do")
    func otherBaseTemplate() throws {
        try withPlace { place in
            func bare(_ template: String?) throws -> String {
                var image = TinyModel().gguf()
                image.metadata.removeAll { $0.key == "tokenizer.chat_template" }
                if let template {
                    image.metadata.append(("tokenizer.chat_template", .string(template)))
                }
                let path = place.directory + "/tiny.gguf"
                try AtomicFile.write(image.bytes(), to: path)
                return path
            }
            func warning(_ more: [String] = []) throws -> String {
                let found = try place.run(
                    [
                        "generate", "--adapter", "run/adapter", "--prompt", "he", "--max-tokens",
                        "1", "--any-base",
                    ] + more)
                #expect(found.status == 0, "\(found.error)")
                return found.error.contains("than it has learned") ? found.error : ""
            }
            let trained = try place.run(Self.train)
            #expect(trained.status == 0, "\(trained.error)")
            #expect(try warning() == "")
            _ = try bare(Self.template)
            #expect(try warning().contains("with another chat template than this model's own"))
            #expect(try warning(["--chat-template", "t.jinja"]).contains("t.jinja"))
            _ = try bare(nil)
            #expect(try warning().contains("with a chat template, and is used without one"))
            // Trained without one, since the model had none.
            try DiskStore().remove(place.directory + "/run")
            let plain = try place.run(Self.train)
            #expect(plain.status == 0, "\(plain.error)")
            #expect(try warning() == "")
            _ = try bare(Self.template)
            #expect(try warning().contains("without a chat template (--prompt-format eos)"))
            #expect(try warning(["--raw"]) == "")
            // Training that starts from it says so, too.
            let next = try place.run(
                Self.train.map { $0 == "run" ? place.directory + "/next" : $0 } + [
                    "--init-adapter", place.directory + "/run/adapter", "--any-base",
                ])
            #expect(next.status == 0 && next.error.contains("without a chat template"))
        }
    }

    @Test("an argument that the template does not know is said to do nothing")
    func unknownArgument() throws {
        try withPlace { place in
            let ask = [
                "generate", "--prompt", "he", "--max-tokens", "1", "--chat-template", "t.jinja",
                "--template-argument",
            ]
            let right = try place.run(ask + ["a=of"])
            #expect(right.status == 0 && !right.error.contains("does nothing"), "\(right.error)")
            let wrong = try place.run(ask + ["aa=of"])
            #expect(wrong.status == 0 && wrong.error.contains("no variable aa, so it does nothing"))
        }
    }

    @Test("the card's command keeps of each list of files as many folders as it takes")
    func heldOutLists() throws {
        try withPlace { place in
            for folder in ["aa", "bb"] {
                try AtomicFile.makeDirectory(place.directory + "/" + folder)
                try AtomicFile.write(
                    "{\"prompt\": \"\(folder)\", \"completion\": \"he\"}\n",
                    to: place.directory + "/\(folder)/v.jsonl")
            }
            let lists = "\(place.directory)/aa/v.jsonl,\(place.directory)/bb/v.jsonl"
            let trained = try place.run(
                Self.train + ["--valid-data", lists, "--test-data", lists])
            #expect(trained.status == 0, "\(trained.error)")
            let card = try String(
                decoding: BoundedInput.read(
                    path: place.directory + "/run/adapter/README.md", limit: 1 << 20), as: UTF8.self
            )
            #expect(card.contains("--valid-data aa/v.jsonl,bb/v.jsonl"))
            #expect(card.contains("--test-data aa/v.jsonl,bb/v.jsonl"))
        }
    }

    @Test("a run goes on with the same template under another path, and not with another one")
    func movedTemplate() throws {
        try withPlace { place in
            let quiet = try place.run(Self.train + ["--chat-template", "t.jinja"])
            #expect(quiet.status == 0, "\(quiet.error)")
            let file = place.directory + "/run/run.json"
            let begun = try BoundedInput.read(path: file, limit: 1 << 20)
            let moved = try place.run(
                Self.train + ["--resume", "--chat-template", "other/same.jinja"])
            #expect(moved.status == 0, "\(moved.error)")
            #expect(try BoundedInput.read(path: file, limit: 1 << 20) == begun)
            let other = try place.run(
                Self.train + ["--resume", "--chat-template", "other/t.jinja"])
            #expect(other.status == 65 && other.error.contains("chat-template"), "\(other.error)")
            // The file was edited.
            try AtomicFile.write("{{ '' }}" + Self.template, to: place.directory + "/t.jinja")
            let edited = try place.run(Self.train + ["--resume", "--chat-template", "t.jinja"])
            #expect(edited.status == 65 && edited.error.contains("chat template (SHA-256)"))
        }
    }

    @Test("evaluate says how many of its rows the adapter was trained on")
    func trainedRows() throws {
        try withPlace { place in
            let trained = try place.run(Self.train + ["--validation-split", "0"])
            #expect(trained.status == 0, "\(trained.error)")
            func warnings(_ file: String) throws -> String {
                let found = try place.run(["evaluate", "--adapter", "run/adapter", "--data", file])
                #expect(found.status == 0, "\(found.error)")
                return found.error
            }
            #expect(try warnings("rows.jsonl").contains("5 of 5 test rows are trained on, too"))
            let one = try warnings("one.jsonl")
            #expect(one.contains("1 of 2 test rows is trained on, too"))
            #expect(one.contains("1 of 2 test rows has the prompt of a training row"))
            // Without the run's data, its digest is still in the adapter's record.
            let rows = place.directory + "/rows.jsonl"
            try DiskStore().rename(rows, to: place.directory + "/moved.jsonl")
            #expect(try warnings("moved.jsonl").contains("is not known"))
            try DiskStore().remove(place.directory + "/run/run.json")
            #expect(try warnings("moved.jsonl").contains("trained on this very data"))
            #expect(try !warnings("one.jsonl").contains("trained on"))
        }
    }

    @Test("evaluate says that a run compared answers with another model than it does")
    func otherReference() throws {
        try withPlace { place in
            let pairs = ["the", "in", "of"].map {
                "{\"prompt\": \"\($0)\", \"chosen\": \"in \($0)\", \"rejected\": \"he\"}\n"
            }
            try AtomicFile.write(pairs.joined(), to: place.directory + "/pairs.jsonl")
            let first = try place.run(Self.train)
            #expect(first.status == 0, "\(first.error)")
            for (reference, isOther) in [("init", true), ("base", false)] {
                let output = place.directory + "/" + reference
                let trained = try place.run([
                    "train", "--data", "pairs.jsonl", "--output", output, "--iterations", "1",
                    "--loss", "dpo", "--init-adapter", place.directory + "/run/adapter",
                    "--reference", reference,
                ])
                #expect(trained.status == 0, "\(trained.error)")
                let found = try place.run([
                    "evaluate", "--loss", "dpo", "--data", "pairs.jsonl", "--adapter",
                    output + "/adapter",
                ])
                #expect(found.status == 0, "\(found.error)")
                #expect(found.error.contains("(--reference init)") == isOther, "\(found.error)")
            }
        }
    }

    @Test("the record's options have the names that the options have")
    func names() {
        let names = RecipeOptions.options.map(\.description.name)
        #expect(TrainedText.Option.allCases.allSatisfy { names.contains($0.rawValue) })
    }
}
