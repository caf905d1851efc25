/// SmolLM3: a Llama of which every fourth layer is not rotated.
struct SmolLM3: ModelFamily {
    let modelTypes = ["smollm3"]
    let gguf: GGUFLayout? = GGUFLayout("smollm3", isInterleaved: true)

    var files: FileTraits {
        var files = FileTraits()
        files.contextLength = 32_768
        files.isTied = true
        files.theta = 2_000_000
        files.unrotatedPeriod = 4
        files.windows = .unrotated
        files.attentionBias = [.query, .key, .value, .output]
        files.feedForwardBias = [.gate, .up, .down]
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Llama().design(of: model) }
}
