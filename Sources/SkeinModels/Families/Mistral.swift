/// Mistral: a Llama whose layers may all have a window. Its GGUF files say "llama".
struct Mistral: ModelFamily {
    let modelTypes = ["mistral"]
    let multimodalTypes = ["mistral3"]
    let gguf: GGUFLayout? = nil
    var adapterLayout: GGUFLayout? { Llama().gguf }

    var files: FileTraits {
        var files = FileTraits()
        files.contextLength = 131_072
        files.windows = .everywhere
        files.window = 4096
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Llama().design(of: model) }
}

/// Ministral 3: queries grow with their position.
struct Ministral3: ModelFamily {
    let modelTypes = ["ministral3"]
    let gguf: GGUFLayout? = GGUFLayout("mistral3", isInterleaved: true)

    var files: FileTraits {
        var files = FileTraits()
        files.contextLength = 262_144
        files.normEpsilon = 1e-5
        files.sizes.headDimension = 128
        files.windows = .everywhere
        files.hasQueryGrowth = true
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Llama().design(of: model) }
}
