import Foundation
import SkeinBasics

extension TinyModel {
    /// Writes config.json, model.safetensors (F32), tokenizer.json and tokenizer_config.json into an
    /// existing directory.
    package func writeHuggingFaceFolder(to directory: String) throws {
        try write(configuration(), to: "\(directory)/config.json")
        try AtomicFile.write(safetensors(), to: "\(directory)/model.safetensors")
        try write(tokenizer(), to: "\(directory)/tokenizer.json")
        try write(
            [
                "chat_template": TinyVocabulary.chatTemplate,
                "bos_token": TinyVocabulary.startOfTurn, "eos_token": TinyVocabulary.endOfTurn,
                "unk_token": TinyVocabulary.endOfText, "tokenizer_class": "GPT2Tokenizer",
                "model_max_length": contextLength,
            ], to: "\(directory)/tokenizer_config.json")
    }

    private func write(_ object: [String: Any], to path: String) throws {
        let data = try JSONSerialization.data(
            withJSONObject: object, options: [.sortedKeys, .prettyPrinted])
        try AtomicFile.write(Array(data), to: path)
    }

    /// The fields of config.json, so that a test can change them.
    package func configuration() -> [String: Any] {
        var fields: [String: Any] = [
            "architectures": ["LlamaForCausalLM"], "model_type": "llama",
            "hidden_size": width, "intermediate_size": feedForwardWidth,
            "num_hidden_layers": layerCount, "num_attention_heads": headCount,
            "num_key_value_heads": keyValueHeadCount, "max_position_embeddings": contextLength,
            "vocab_size": vocabularySize, "rms_norm_eps": 1e-5, "rope_theta": Double(ropeTheta),
            "hidden_act": "silu", "tie_word_embeddings": tiedEmbeddings,
            "attention_bias": false, "mlp_bias": false, "bos_token_id": 1, "eos_token_id": 2,
        ]
        if let statedHeadDimension { fields["head_dim"] = statedHeadDimension }
        return fields
    }

    /// The bytes of model.safetensors: header length, JSON header, the tensors one after the other.
    package func safetensors() -> [UInt8] {
        var entries: [String] = []
        var data: [UInt8] = []
        for weight in weights().sorted(by: { $0.name < $1.name }) {
            let start = data.count
            weight.floats.withUnsafeBytes { data += $0 }
            entries.append(
                "\"\(weight.name)\":{\"dtype\":\"F32\",\"shape\":\(weight.shape),"
                    + "\"data_offsets\":[\(start),\(data.count)]}")
        }
        var header = Array("{\(entries.joined(separator: ","))}".utf8)
        while header.count % 8 != 0 { header.append(UInt8(ascii: " ")) }
        var out: [UInt8] = []
        GGUFImage.append(UInt64(header.count), to: &out)
        return out + header + data
    }

    /// The fields of tokenizer.json: SmolLM2's pipeline over `TinyVocabulary`.
    private func tokenizer() -> [String: Any] {
        var vocabulary: [String: Int] = [:]
        for (id, token) in TinyVocabulary.tokens.enumerated() { vocabulary[token] = id }
        let specials = TinyVocabulary.specials.enumerated().map { ($0, $1) }
        let extra = extraTokens.enumerated().map { ($0 + vocabularySize, $1) }
        let added: [[String: Any]] = (specials + extra).map { id, text in
            [
                "id": id, "content": text, "special": true, "normalized": false,
                "single_word": false, "lstrip": false, "rstrip": false,
            ]
        }
        let byteLevel: [String: Any] = [
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true,
        ]
        let digits: [String: Any] = ["type": "Digits", "individual_digits": true]
        let model: [String: Any] = [
            "type": "BPE", "vocab": vocabulary, "merges": TinyVocabulary.merges,
            "dropout": NSNull(), "unk_token": NSNull(), "continuing_subword_prefix": NSNull(),
            "end_of_word_suffix": NSNull(), "fuse_unk": false, "byte_fallback": false,
        ]
        return [
            "version": "1.0", "truncation": NSNull(), "padding": NSNull(), "added_tokens": added,
            "normalizer": NSNull(), "post_processor": NSNull(), "decoder": byteLevel,
            "pre_tokenizer": ["type": "Sequence", "pretokenizers": [digits, byteLevel]],
            "model": model,
        ]
    }
}
