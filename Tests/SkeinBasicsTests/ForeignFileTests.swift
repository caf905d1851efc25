import SkeinBasics
import Testing

/// Files of kinds that are not read, told by their first bytes. The bytes are those that zlib, zstd, xz,
/// bzip2, zip, tar, PyTorch 2.15, Python 3.11 and pyarrow 26.0.1 begin a file with.
@Suite struct ForeignFileTests {
    private static let pointer =
        "version https://git-lfs.github.com/spec/v1\n"
        + "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

    private static let archive: [UInt8] =
        [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 26) + Array("adapter_model/data.pkl".utf8)

    private static let kinds: [([UInt8], ForeignFile)] = [
        (Array(pointer.utf8), .pointer),
        ([0x1F, 0x8B, 8, 0, 0x19, 0x0A], .packed(.gzip)),
        ([0x28, 0xB5, 0x2F, 0xFD, 0x24, 0x4C], .packed(.zstd)),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0, 4], .packed(.xz)),
        ([0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59], .packed(.bzip2)),
        ([0x50, 0x4B, 3, 4, 0x14, 0, 0, 0] + Array("a.jsonl".utf8), .packed(.zip)),
        ([0x50, 0x4B, 5, 6, 0, 0, 0, 0], .packed(.zip)),
        ([UInt8](repeating: 0x61, count: 257) + Array("ustar\u{0}00".utf8), .packed(.tar)),
        (archive, .pickle(isTorch: true)),
        (
            [
                0x80, 2, 0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19,
                0x2E,
            ],
            .pickle(isTorch: true)
        ),
        (Array("(lp0\n(dp1\nVprompt\n".utf8), .pickle(isTorch: false)),
        ([0x5D, 0x71, 0, 0x28], .pickle(isTorch: false)),
        ([0x80, 3, 0x5D, 0x71, 0], .pickle(isTorch: false)),
        ([0x80, 5, 0x95, 0x56, 0, 0], .pickle(isTorch: false)),
        ([0xFF, 0xFF, 0xFF, 0xFF, 0xA0, 0, 0, 0, 0x10], .arrow(.stream)),
        (Array("ARROW1\0\0".utf8) + [0xFF, 0xFF], .arrow(.file)),
        ([0xFF, 0xFE, 0x7B, 0, 0x22, 0], .wideText(encoding: "UTF-16")),
        ([0xFE, 0xFF, 0, 0x7B], .wideText(encoding: "UTF-16")),
        ([0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0], .wideText(encoding: "UTF-32")),
        ([0x7B, 0, 0x22, 0], .wideText(encoding: "UTF-16LE")),
        ([0, 0x7B, 0, 0x22], .wideText(encoding: "UTF-16BE")),
        (Array("\u{FEFF}\n<!DOCTYPE html>\n".utf8), .webPage), (Array("<html lang".utf8), .webPage),
        ([64, 0, 0, 0, 0, 0, 0, 0, 0x7B, 0x22], .safetensors),
    ]

    private static func kind(_ bytes: [UInt8]) -> ForeignFile? {
        bytes.withUnsafeBytes { ForeignFile($0) }
    }

    @Test(
        "each kind is told by its first bytes, and cut bytes are never looked at", arguments: kinds)
    func known(bytes: [UInt8], kind: ForeignFile) {
        #expect(Self.kind(bytes) == kind)
        for count in 0..<bytes.count { _ = Self.kind(Array(bytes.prefix(count))) }
    }

    @Test(
        "text and files that are read are none of these",
        arguments: [
            "", "{", "{\"prompt\": 1}", "[\n{", "a,b\n", "PAR1\u{15}\u{4}",
            "PK is a name", "BZh1 or BZh9", "(lp0", "version https://git-lfs.github.com/spec/v1\n",
            "the version https://git-lfs.github.com/spec/v1\noid sha256:4d\n", "<p>",
            "\u{FEFF}text",
            "ARROW1", "\u{A}\u{E}\u{A}\u{5}<unk>", "\0\0\0\0\0\0\0\0",
        ])
    func others(text: String) {
        #expect(Self.kind(Array(text.utf8)) == nil)
    }

    @Test("a long text that begins like a pointer is none")
    func longPointer() {
        let text = Self.pointer + String(repeating: "a line\n", count: 200)
        #expect(Self.kind(Array(text.utf8)) == nil)
    }

    private static let uses: [ForeignFileError.Use] = [.data, .model, .adapter, .text]

    @Test("every error says what the file is, where, and how to mend it", arguments: kinds.map(\.1))
    func explained(kind: ForeignFile) {
        for use in Self.uses {
            let error = ForeignFileError(path: "a folder/it's.jsonl", kind: kind, use: use)
            let explanation = error.explanation
            #expect(!explanation.what.isEmpty && !explanation.remedy.isEmpty)
            #expect(explanation.place == "a folder/it's.jsonl" && explanation.status == .badData)
            // A path stands in a command as a shell needs it.
            if explanation.remedy.contains("`") {
                #expect(explanation.remedy.contains("'a folder"), "\(explanation.remedy)")
            }
        }
    }

    private static let remedies: [(ForeignFile, ForeignFileError.Use, String, String)] = [
        (
            .pointer, .model, "m/model.safetensors",
            "fetch it with `git lfs install && git -C m lfs pull`, or download it where the "
                + "repository is"
        ),
        (
            .wideText(encoding: "UTF-16LE"), .data, "a.csv",
            "write it as UTF-8: `iconv -f UTF-16LE -t UTF-8 a.csv > a.csv.utf8 && mv a.csv.utf8 "
                + "a.csv`"
        ),
        (
            .packed(.gzip), .data, "a.jsonl.gz",
            "unpack it: `gzip -d a.jsonl.gz`, and give the file that it makes"
        ),
        (
            .packed(.gzip), .data, "a.jsonl",
            "unpack it: `gzip -dc < a.jsonl > a.jsonl.unpacked && mv a.jsonl.unpacked a.jsonl`"
        ),
        (
            .packed(.xz), .adapter, "d/a.tar.xz",
            "unpack it: `tar -xf d/a.tar.xz -C d`, and give what was in it"
        ),
        (
            .packed(.zip), .adapter, "d/a.zip",
            "unpack it: `unzip d/a.zip -d d`, and give what was in it"
        ),
        (
            .arrow(.stream), .data, "d/train.arrow",
            "write it as Parquet: `python3 -c \"import sys, pyarrow, pyarrow.parquet; "
                + "pyarrow.parquet.write_table(pyarrow.ipc.open_stream(pyarrow.memory_map(sys.argv[1]))"
                + ".read_all(), sys.argv[2])\" d/train.arrow d/train.parquet`"
        ),
        (
            .pickle(isTorch: true), .adapter, "d/adapter_model.bin",
            "write its tensors as safetensors, without running code: `python3 -c \"import sys, torch; "
                + "from safetensors.torch import save_file; save_file({k: v.clone().contiguous() for k, "
                + "v in torch.load(sys.argv[1], 'cpu', weights_only=True).items()}, sys.argv[2], "
                + "{'format': 'pt'})\" d/adapter_model.bin d/adapter_model.safetensors`"
        ),
        (
            .pickle(isTorch: true), .model, "d/pytorch_model.bin",
            "write it as safetensors with transformers: `python3 -c \"import sys; from transformers "
                + "import AutoModelForCausalLM as M, AutoTokenizer as T; M.from_pretrained(sys.argv[1], "
                + "dtype='auto').save_pretrained(sys.argv[2]); T.from_pretrained(sys.argv[1])"
                + ".save_pretrained(sys.argv[2])\" d d-safetensors`, and give that folder"
        ),
        (
            .pickle(isTorch: false), .data, "rows.pkl",
            "if you trust it, write its rows as JSON lines: `python3 -c \"import sys, pandas; "
                + "pandas.DataFrame(pandas.read_pickle(sys.argv[1])).to_json(sys.argv[2], "
                + "orient='records', lines=True)\" rows.pkl ./rows.jsonl`"
        ),
        (
            .safetensors, .adapter, "d/adapter_model.safetensors",
            "give the folder that it is in, with adapter_config.json"
        ),
    ]

    @Test("commands that were run on such files", arguments: remedies)
    func commands(
        kind: ForeignFile, use: ForeignFileError.Use, path: String, remedy: String
    ) {
        #expect(
            ForeignFileError(path: path, kind: kind, use: use).explanation.remedy == remedy)
    }
}
