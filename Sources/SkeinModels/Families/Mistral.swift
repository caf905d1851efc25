/// Mistral without a sliding window: otherwise a Llama. Its GGUF files say "llama".
struct Mistral: ModelFamily {
    let modelTypes = ["mistral"]
    let gguf: GGUFLayout? = nil

    func design(of model: ModelConfiguration) -> DecoderDesign { Llama().design(of: model) }
}
