/// Granite 3 and 4 without experts and Mamba: a Llama with factors of the embedding, attention, what
/// blocks add, and the logits.
struct Granite: ModelFamily {
    let modelTypes = ["granite"]
    let gguf: GGUFLayout? = GGUFLayout("granite", isInterleaved: true)

    var files: FileTraits {
        var files = FileTraits()
        files.hasMultipliers = true
        files.attentionBias = [.query, .key, .value, .output]
        files.feedForwardBias = [.gate, .up, .down]
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Llama().design(of: model) }
}
