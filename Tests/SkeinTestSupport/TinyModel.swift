import Foundation
import SkeinBasics

/// A Llama-architecture model of a few hundred thousand random weights, written as a GGUF file or
/// as a Hugging Face folder. The bytes are a function of the fields below alone.
///
/// Sizes must fit together: the heads divide the width unless `statedHeadDimension` says how wide
/// they are, the key-value heads divide the heads, and for a quantized file the width, the
/// feed-forward width and the width of all heads are multiples of 32.
package struct TinyModel: Sendable {
    package enum WeightType: Sendable, CaseIterable {
        case f32
        case q4x0
        case q8x0
    }

    package var width = 64
    package var feedForwardWidth = 128
    package var layerCount = 2
    package var headCount = 4
    package var keyValueHeadCount = 2
    /// nil: width / headCount, and the files do not state it.
    package var statedHeadDimension: Int?
    package var contextLength = 256
    package var ropeTheta: Float = 10_000
    package var tiedEmbeddings = true
    /// Special tokens behind all others, for which there are no embeddings.
    package var extraTokens: [String] = []
    /// The type of the matrices in a GGUF file; norms are always F32.
    package var weightType = WeightType.f32
    package var seed: UInt64 = 1

    package init() {}

    package var vocabularySize: Int { TinyVocabulary.tokens.count }
    package var headDimension: Int { statedHeadDimension ?? width / headCount }

    /// Models whose heads together are wider, and narrower, than the residual stream.
    package static let otherHeads = [
        TinyModel(headCount: 4, keyValueHeadCount: 2, headDimension: 24),
        TinyModel(headCount: 2, keyValueHeadCount: 1, headDimension: 16),
    ]

    private init(headCount: Int, keyValueHeadCount: Int, headDimension: Int) {
        self.headCount = headCount
        self.keyValueHeadCount = keyValueHeadCount
        statedHeadDimension = headDimension
    }

    /// One weight tensor under its Hugging Face name, row-major.
    package struct Weight: Sendable {
        package let name: String
        package let shape: [Int]
        package let floats: [Float]
    }

    /// All weights: matrices uniform with standard deviation 1 / sqrt(in), norms within 1 +- 0.1.
    package func weights() -> [Weight] {
        let attention = headCount * headDimension
        let keyValue = keyValueHeadCount * headDimension
        var shapes: [(String, [Int])] = [("model.embed_tokens.weight", [vocabularySize, width])]
        for layer in 0..<layerCount {
            let block = "model.layers.\(layer)"
            shapes += [
                ("\(block).input_layernorm.weight", [width]),
                ("\(block).self_attn.q_proj.weight", [attention, width]),
                ("\(block).self_attn.k_proj.weight", [keyValue, width]),
                ("\(block).self_attn.v_proj.weight", [keyValue, width]),
                ("\(block).self_attn.o_proj.weight", [width, attention]),
                ("\(block).post_attention_layernorm.weight", [width]),
                ("\(block).mlp.gate_proj.weight", [feedForwardWidth, width]),
                ("\(block).mlp.up_proj.weight", [feedForwardWidth, width]),
                ("\(block).mlp.down_proj.weight", [width, feedForwardWidth]),
            ]
        }
        shapes.append(("model.norm.weight", [width]))
        if !tiedEmbeddings { shapes.append(("lm_head.weight", [vocabularySize, width])) }
        return weights(shapes)
    }

    /// Weights of any names and shapes, drawn like the model's own; a vector is drawn like a norm.
    package func weights(_ shapes: [(String, [Int])]) -> [Weight] {
        shapes.enumerated().map { ordinal, entry in
            Weight(
                name: entry.0, shape: entry.1,
                floats: randomFloats(shape: entry.1, ordinal: UInt32(ordinal)))
        }
    }

    private func randomFloats(shape: [Int], ordinal: UInt32) -> [Float] {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        let isNorm = shape.count == 1
        let columns = shape.last ?? 1
        // A uniform number in -b ..< b has standard deviation b / sqrt(3).
        let bound = isNorm ? 0.1 : (3 / Float(columns)).squareRoot()
        let count = shape.reduce(1, *)
        var floats: [Float] = []
        floats.reserveCapacity(count)
        for index in 0..<((count + 3) / 4) {
            let words = random.block(UInt32(index), ordinal)
            for lane in 0..<4 where floats.count < count {
                let uniform = AddressedRandom.unitFloat(words[lane])
                floats.append((isNorm ? 1 : 0) + bound * (2 * uniform - 1))
            }
        }
        return floats
    }

    /// Writes the GGUF file.
    package func writeGGUF(to path: String) throws {
        try AtomicFile.write(gguf().bytes(), to: path)
    }

    /// The GGUF file before it becomes bytes, so that a test can change it.
    package func gguf() -> GGUFImage {
        var image = GGUFImage()
        image.metadata = modelMetadata + tokenizerMetadata
        image.tensors = weights().map { weight in
            var floats = weight.floats
            if weight.name.hasSuffix("q_proj.weight") {
                floats = interleaved(floats, heads: headCount)
            } else if weight.name.hasSuffix("k_proj.weight") {
                floats = interleaved(floats, heads: keyValueHeadCount)
            }
            let type = weight.shape.count == 1 ? .f32 : weightType
            return GGUFImage.Tensor(
                name: Self.ggufName(weight.name),
                dimensions: weight.shape.reversed().map { UInt64($0) },
                type: type.identifier, data: type.encode(floats))
        }
        return image
    }

    /// Rows of each head in the order of GGUF's "llama": (half, index) becomes (index, half).
    private func interleaved(_ floats: [Float], heads: Int) -> [Float] {
        var out: [Float] = []
        out.reserveCapacity(floats.count)
        for head in 0..<heads {
            for index in 0..<(headDimension / 2) {
                for half in 0..<2 {
                    let row = head * headDimension + half * headDimension / 2 + index
                    out += floats[(row * width)..<((row + 1) * width)]
                }
            }
        }
        return out
    }

    private var modelMetadata: [(key: String, value: GGUFImage.Value)] {
        let stated = ["key_length", "value_length"].compactMap { name in
            statedHeadDimension.map {
                (key: "llama.attention.\(name)", value: GGUFImage.Value.uint32(UInt32($0)))
            }
        }
        let common: [(key: String, value: GGUFImage.Value)] = [
            ("general.architecture", .string("llama")),
            ("general.name", .string("tiny")),
            ("llama.block_count", .uint32(UInt32(layerCount))),
            ("llama.context_length", .uint32(UInt32(contextLength))),
            ("llama.embedding_length", .uint32(UInt32(width))),
            ("llama.feed_forward_length", .uint32(UInt32(feedForwardWidth))),
            ("llama.attention.head_count", .uint32(UInt32(headCount))),
            ("llama.attention.head_count_kv", .uint32(UInt32(keyValueHeadCount))),
            ("llama.attention.layer_norm_rms_epsilon", .float32(1e-5)),
            ("llama.rope.freq_base", .float32(ropeTheta)),
            ("llama.rope.dimension_count", .uint32(UInt32(headDimension))),
            ("llama.vocab_size", .uint32(UInt32(vocabularySize))),
        ]
        return common + stated
    }

    private var tokenizerMetadata: [(key: String, value: GGUFImage.Value)] {
        let controls = TinyVocabulary.specials.count
        let tokens = TinyVocabulary.tokens + extraTokens
        let types = tokens.indices.map { Int32($0 < controls || $0 >= vocabularySize ? 3 : 1) }
        return [
            ("tokenizer.ggml.model", .string("gpt2")),
            ("tokenizer.ggml.pre", .string("smollm")),
            ("tokenizer.ggml.tokens", .strings(tokens)),
            ("tokenizer.ggml.token_type", .int32s(types)),
            ("tokenizer.ggml.merges", .strings(TinyVocabulary.merges)),
            ("tokenizer.ggml.bos_token_id", .uint32(1)),
            ("tokenizer.ggml.eos_token_id", .uint32(2)),
            ("tokenizer.ggml.unknown_token_id", .uint32(0)),
            ("tokenizer.ggml.padding_token_id", .uint32(2)),
            ("tokenizer.ggml.add_bos_token", .bool(false)),
            ("tokenizer.ggml.add_space_prefix", .bool(false)),
            ("tokenizer.chat_template", .string(TinyVocabulary.chatTemplate)),
        ]
    }

    private static func ggufName(_ name: String) -> String {
        switch name {
        case "model.embed_tokens.weight": return "token_embd.weight"
        case "model.norm.weight": return "output_norm.weight"
        case "lm_head.weight": return "output.weight"
        default: break
        }
        let parts = name.split(separator: ".").map(String.init)
        let part: [String: String] = [
            "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
            "q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output",
            "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down",
        ]
        return "blk.\(parts[2]).\(part[parts[parts.count - 2]] ?? name).weight"
    }
}

extension TinyModel.WeightType {
    /// The ggml type id.
    var identifier: UInt32 {
        switch self {
        case .f32: 0
        case .q4x0: 2
        case .q8x0: 8
        }
    }

    /// The bytes of `floats` in this type; quantized as ggml's reference quantizers do.
    func encode(_ floats: [Float]) -> [UInt8] {
        switch self {
        case .f32: floats.withUnsafeBytes { Array($0) }
        case .q4x0: Self.blocks(of: floats, Self.appendQ4)
        case .q8x0: Self.blocks(of: floats, Self.appendQ8)
        }
    }

    private static func blocks(
        of floats: [Float], _ append: (ArraySlice<Float>, inout [UInt8]) -> Void
    ) -> [UInt8] {
        precondition(floats.count % 32 == 0, "a quantized block has 32 elements")
        var out: [UInt8] = []
        for start in stride(from: 0, to: floats.count, by: 32) {
            append(floats[start..<(start + 32)], &out)
        }
        return out
    }

    private static func appendQ4(_ block: ArraySlice<Float>, to out: inout [UInt8]) {
        let extreme = block.max { abs($0) < abs($1) } ?? 0
        let scale = extreme / -8
        let inverse = scale == 0 ? 0 : 1 / scale
        let codes = block.map { UInt8(min(15, max(0, $0 * inverse + 8.5))) }
        GGUFImage.append(Float16(scale).bitPattern, to: &out)
        for index in 0..<16 { out.append(codes[index] | codes[index + 16] << 4) }
    }

    private static func appendQ8(_ block: ArraySlice<Float>, to out: inout [UInt8]) {
        let scale = (block.map { abs($0) }.max() ?? 0) / 127
        let inverse = scale == 0 ? 0 : 1 / scale
        GGUFImage.append(Float16(scale).bitPattern, to: &out)
        for value in block {
            out.append(UInt8(bitPattern: Int8((value * inverse).rounded())))
        }
    }
}
