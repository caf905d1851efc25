import SkeinBasics

extension FormatError: Explained {
    package var explanation: Explanation {
        Explanation(what: what, place: place, remedy: remedy, status: .badData)
    }

    private var what: String {
        switch self {
        case .notFound: "there is no such file or folder"
        case .notAModel:
            "this is neither a GGUF file nor a folder with a config.json or one split GGUF file"
        case .standsForModel(_, let found): found.what
        case .notAnAdapter(_, let found, _): "this is no LoRA adapter but \(found)"
        case .modelAsAdapter: "this is a base model, not an adapter"
        case .missingFile(_, let expected): "the folder has no \(expected)"
        case .badMagic(_, let expected, let found):
            "the file starts with \(found), not with \(expected)"
        case .unsupportedVersion(_, let found): "GGUF version \(found) is not supported"
        case .truncated(_, _, let field, let expected, let found):
            "\(field) needs \(expected) bytes, but only \(found) are left"
        case .overLimit(_, let field, let limit, let found):
            "\(field) is \(found), above the limit of \(limit)"
        case .notText(_, _, let field): "\(field) is not UTF-8 text"
        case .duplicate(_, let name): "'\(name)' is in the file twice"
        case .splitFile(_, let parts):
            "this is one of \(parts) parts of a split GGUF file, but its name does not say which"
        case .badShardName(_, let found): "the index names the file '\(found)'"
        case .badJSON(_, let reason): "this is not valid JSON: \(reason)"
        case .missingField(_, let field): "the field '\(field)' is missing"
        case .badField(_, let field, let expected, let found):
            "'\(field)' must be \(expected), not \(found)"
        case .unsupported(_, let field, let found, let supported):
            "'\(field)' is \(found); Skein supports only \(supported)"
        case .unsupportedElementType(_, let tensor, let found):
            "tensor '\(tensor)' has the element type \(found), which Skein cannot read as a weight"
        case .badTensor(_, let tensor, let field, let expected, let found):
            "tensor '\(tensor)': \(field) must be \(expected), not \(found)"
        case .missingTensor(_, let tensor): "the tensor '\(tensor)' is missing"
        case .unexpectedTensor(_, let tensor):
            "the tensor '\(tensor)' is not part of any supported model or adapter"
        case .unnamedModule(_, let tensor):
            "the tensor '\(tensor)' is of a module that the adapter's configuration does not name"
        case .wrongShape(_, let tensor, let expected, let found):
            "tensor '\(tensor)' has the shape \(found), not \(expected)"
        case .notFinite(_, let tensor, let row, let column, let value):
            "the weights have a number that is not finite: tensor '\(tensor)' is \(value) in row "
                + "\(row), column \(column)"
        }
    }

    private var place: String {
        switch self {
        case .truncated(let path, let offset, _, _, _), .notText(let path, let offset, _):
            "\(path), byte \(offset)"
        case .notFound(let path), .notAModel(let path), .notAnAdapter(let path, _, _),
            .modelAsAdapter(let path),
            .standsForModel(let path, _),
            .missingFile(let path, _),
            .badMagic(let path, _, _), .unsupportedVersion(let path, _),
            .overLimit(let path, _, _, _), .duplicate(let path, _), .splitFile(let path, _),
            .badShardName(let path, _),
            .badJSON(let path, _), .missingField(let path, _), .badField(let path, _, _, _),
            .unsupported(let path, _, _, _), .unsupportedElementType(let path, _, _),
            .badTensor(let path, _, _, _, _), .missingTensor(let path, _),
            .unexpectedTensor(let path, _), .unnamedModule(let path, _),
            .wrongShape(let path, _, _, _), .notFinite(let path, _, _, _, _):
            path
        }
    }

    private static let adapters =
        "a folder with adapter_config.json and adapter_model.safetensors (PEFT) or "
        + "adapters.safetensors (MLX), or a GGUF file with an adapter"

    private var remedy: String {
        switch self {
        case .notFound(let path): FileError.remedy(forMissing: path)
        case .notAModel:
            "give a .gguf file, or a Hugging Face folder with config.json, *.safetensors and "
                + "tokenizer.json or tokenizer.model; of several split models, one part"
        case .standsForModel(_, let found): found.remedy
        case .notAnAdapter(_, _, let instead) where !instead.isEmpty:
            "give \(Words.either(instead))"
        case .notAnAdapter: "give \(Self.adapters)"
        case .modelAsAdapter: "give it as --model, and as --adapter \(Self.adapters)"
        case .missingFile:
            "fetch all files of the model; the weights of a folder must be .safetensors"
        case .badMagic, .truncated, .overLimit, .notText, .duplicate, .badTensor:
            "the file is damaged or incomplete; fetch it again and compare its SHA-256"
        case .unsupportedVersion: "convert the model again; GGUF versions 2 and 3 are read"
        case .splitFile: "keep all parts in one folder, named NAME-00001-of-00003.gguf and so on"
        case .badShardName: "shards must be in the folder itself, named without a path"
        case .badJSON, .missingField, .badField: "correct the file, or fetch it again"
        case .unsupported: "use a model or an adapter without it"
        case .unsupportedElementType:
            "use a GGUF in F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL, "
                + "IQ4_XS or MXFP4, or a folder in F32, F16 or BF16 or quantized by MLX, "
                + "bitsandbytes (4 bits), fp8 or compressed-tensors (FP8)"
        case .missingTensor: "the file is incomplete or of another architecture; fetch it again"
        case .unexpectedTensor: "use a model of a supported family without additions"
        case .unnamedModule:
            "correct target_modules, exclude_modules or layers_to_transform in adapter_config.json"
        case .wrongShape: "the weights and their configuration do not match"
        case .notFinite:
            "the file is damaged, or was saved by a run that diverged: fetch it again and compare its "
                + "SHA-256, or convert the model again"
        }
    }
}
