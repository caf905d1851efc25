import Foundation

/// A file of a kind that Skein does not read, where another one is needed.
package struct ForeignFileError: Error, Equatable {
    package let path: String
    package let kind: ForeignFile
    package let use: Use

    /// What a file was given for, on which depends how to make one that is read.
    package enum Use: Sendable, Equatable {
        /// Rows of training or validation.
        case data
        /// Weights of a base model, or a whole model.
        case model
        /// Weights of an adapter, or a whole adapter.
        case adapter
        /// Text: a configuration, a tokenizer, a template.
        case text
    }

    package init(path: String, kind: ForeignFile, use: Use) {
        self.path = path
        self.kind = kind
        self.use = use
    }

    /// nil for bytes that are none of these kinds.
    package init?(path: String, bytes: UnsafeRawBufferPointer, use: Use) {
        guard let kind = ForeignFile(bytes) else { return nil }
        self.init(path: path, kind: kind, use: use)
    }
}

extension ForeignFileError: Explained {
    package var explanation: Explanation {
        Explanation(what: what, place: path, remedy: remedy, status: .badData)
    }

    private var what: String {
        switch kind {
        case .pointer:
            "this is a Git LFS pointer: a few lines that stand for the file, which was not downloaded"
        case .wideText(let encoding): "this is \(encoding) text, not UTF-8"
        case .packed(let packing) where packing == .zip || packing == .tar:
            "this is a \(packing.rawValue) archive"
        case .packed(let packing): "this file is compressed with \(packing.rawValue)"
        case .pickle(let isTorch):
            isTorch
                ? "this is a file of PyTorch, a pickle, which may run code when it is read"
                : "this is a Python pickle, which may run code when it is read"
        case .arrow: "this is an Arrow file, which Skein does not read"
        case .webPage: "this is a web page (HTML), not the file"
        case .gguf: "this is a GGUF file: a model or an adapter"
        case .safetensors where use == .data: "this is a file of weights, not of rows"
        case .safetensors: "this is a file of weights without the configuration that says whose"
        }
    }

    private var remedy: String {
        let file = ShellWords.quoted(path)
        switch kind {
        case .pointer:
            let folder = ShellWords.quoted(FilePath.parent(of: path))
            return "fetch it with `git lfs install && git -C \(folder) lfs pull`, or download it "
                + "where the repository is"
        case .wideText(let encoding):
            return "write it as UTF-8: `iconv -f \(encoding) -t UTF-8 \(file) > \(file).utf8 && "
                + "mv \(file).utf8 \(file)`"
        case .packed(let packing): return unpacking(packing, file)
        case .pickle(let isTorch): return isTorch ? torchRemedy : pickleRemedy
        case .arrow(let arrow): return arrowRemedy(arrow)
        case .webPage:
            return "download the file itself; on the Hub, its address has /resolve/ where that of "
                + "its page has /blob/"
        case .safetensors: return safetensorsRemedy
        case .gguf where use == .data:
            return
                "give it as --model or --adapter, and as --data rows: .jsonl, .json, .csv, .tsv, "
                + ".parquet or .txt"
        case .gguf: return otherRemedy
        }
    }

    private func unpacking(_ packing: ForeignFile.Packing, _ file: String) -> String {
        let folder = ShellWords.quoted(FilePath.parent(of: path))
        let name = path.lowercased()
        let isTar = name.hasSuffix(".tgz") || name.contains(".tar.")
        let (tool, suffix) =
            switch packing {
            case .gzip: ("gzip", ".gz")
            case .zstd: ("zstd", ".zst")
            case .xz: ("xz", ".xz")
            case .bzip2: ("bzip2", ".bz2")
            case .zip: ("unzip", "")
            case .tar: ("tar", "")
            }
        if packing == .zip {
            return "unpack it: `unzip \(file) -d \(folder)`, and give what was in it"
        }
        if packing == .tar || isTar {
            return "unpack it: `tar -xf \(file) -C \(folder)`, and give what was in it"
        }
        // The programs ask for their own ending.
        guard !name.hasSuffix(suffix) else {
            return "unpack it: `\(tool) -d \(file)`, and give the file that it makes"
        }
        return "unpack it: `\(tool) -dc < \(file) > \(file).unpacked && "
            + "mv \(file).unpacked \(file)`"
    }

    /// A Python program as a command. Names of files are its arguments, so that none needs quotes in
    /// two languages.
    private func python(_ program: String, _ arguments: String...) -> String {
        "`python3 -c \"\(program)\" \(ShellWords.line(arguments))`"
    }

    /// The path with another ending.
    private func path(ending: String) -> String {
        let name = FilePath.name(of: path)
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        return FilePath.join(FilePath.parent(of: path), stem + ending)
    }

    private var torchRemedy: String {
        let folder = FilePath.parent(of: path)
        switch use {
        case .adapter:
            return "write its tensors as safetensors, without running code: "
                + python(
                    "import sys, torch; from safetensors.torch import save_file; save_file("
                        + "{k: v.clone().contiguous() for k, v in torch.load(sys.argv[1], 'cpu', "
                        + "weights_only=True).items()}, sys.argv[2], {'format': 'pt'})", path,
                    path(ending: ".safetensors"))
        case .model:
            return "write it as safetensors with transformers: "
                + python(
                    "import sys; from transformers import AutoModelForCausalLM as M, AutoTokenizer as "
                        + "T; M.from_pretrained(sys.argv[1], dtype='auto').save_pretrained(sys.argv[2])"
                        + "; T.from_pretrained(sys.argv[1]).save_pretrained(sys.argv[2])", folder,
                    FilePath.trimmed(folder) + "-safetensors")
                + ", and give that folder"
        case .data, .text: return otherRemedy
        }
    }

    private var pickleRemedy: String {
        switch use {
        case .adapter, .model: return torchRemedy
        case .data:
            return "if you trust it, write its rows as JSON lines: "
                + python(
                    "import sys, pandas; pandas.DataFrame(pandas.read_pickle(sys.argv[1])).to_json("
                        + "sys.argv[2], orient='records', lines=True)", path, path(ending: ".jsonl")
                )
        case .text: return otherRemedy
        }
    }

    private func arrowRemedy(_ arrow: ForeignFile.Arrow) -> String {
        guard use == .data else { return otherRemedy }
        let open =
            switch arrow {
            case .stream: "open_stream"
            case .file: "open_file"
            }
        return "write it as Parquet: "
            + python(
                "import sys, pyarrow, pyarrow.parquet; pyarrow.parquet.write_table(pyarrow.ipc.\(open)("
                    + "pyarrow.memory_map(sys.argv[1])).read_all(), sys.argv[2])", path,
                path(ending: ".parquet"))
    }

    private var safetensorsRemedy: String {
        switch use {
        case .model: "give the folder that it is in, with config.json and the tokenizer's files"
        case .adapter: "give the folder that it is in, with adapter_config.json"
        case .data, .text: otherRemedy
        }
    }

    private var otherRemedy: String {
        switch use {
        case .data: "give rows as .jsonl, .json, .csv, .tsv, .parquet or .txt"
        case .model: "give a .gguf file or a folder with config.json and *.safetensors"
        case .adapter: "give a folder with adapter_config.json, or a GGUF file with an adapter"
        case .text: "give a text file in UTF-8"
        }
    }
}
