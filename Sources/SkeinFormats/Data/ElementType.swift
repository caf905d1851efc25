/// How the elements of a weight are stored: plain numbers, or quantized blocks of ggml.
package enum ElementType: Sendable, Hashable, CaseIterable {
    case f32
    case f16
    case bf16
    case q4x0
    case q4x1
    case q5x0
    case q5x1
    case q8x0
    case q2K
    case q3K
    case q4K
    case q5K
    case q6K
    case iq4NL
    case iq4XS
    case mxfp4

    /// Elements in one block; 1 for plain numbers.
    package var blockElements: Int {
        switch self {
        case .f32, .f16, .bf16: 1
        case .q4x0, .q4x1, .q5x0, .q5x1, .q8x0, .iq4NL, .mxfp4: 32
        case .q2K, .q3K, .q4K, .q5K, .q6K, .iq4XS: 256
        }
    }

    /// Bytes of one block.
    package var blockBytes: Int {
        switch self {
        case .f32: 4
        case .f16, .bf16: 2
        case .q4x0: 18
        case .q4x1: 20
        case .q5x0: 22
        case .q5x1: 24
        case .q8x0: 34
        case .q2K: 84
        case .q3K: 110
        case .q4K: 144
        case .q5K: 176
        case .q6K: 210
        case .iq4NL: 18
        case .iq4XS: 136
        case .mxfp4: 17
        }
    }

    /// As ggml spells it: "Q4_1".
    package var name: String {
        switch self {
        case .f32: "F32"
        case .f16: "F16"
        case .bf16: "BF16"
        case .q4x0: "Q4_0"
        case .q4x1: "Q4_1"
        case .q5x0: "Q5_0"
        case .q5x1: "Q5_1"
        case .q8x0: "Q8_0"
        case .q2K: "Q2_K"
        case .q3K: "Q3_K"
        case .q4K: "Q4_K"
        case .q5K: "Q5_K"
        case .q6K: "Q6_K"
        case .iq4NL: "IQ4_NL"
        case .iq4XS: "IQ4_XS"
        case .mxfp4: "MXFP4"
        }
    }

    /// ggml's number for the type (enum ggml_type in ggml.h).
    var ggmlIdentifier: UInt32 {
        switch self {
        case .f32: 0
        case .f16: 1
        case .q4x0: 2
        case .q4x1: 3
        case .q5x0: 6
        case .q5x1: 7
        case .q8x0: 8
        case .q2K: 10
        case .q3K: 11
        case .q4K: 12
        case .q5K: 13
        case .q6K: 14
        case .iq4NL: 20
        case .iq4XS: 23
        case .bf16: 30
        case .mxfp4: 39
        }
    }

    init?(ggmlIdentifier: UInt32) {
        guard let match = Self.allCases.first(where: { $0.ggmlIdentifier == ggmlIdentifier })
        else { return nil }
        self = match
    }

    /// ggml's name for a type that Skein does not read, for the error.
    static func unreadName(ggmlIdentifier: UInt32) -> String {
        let names: [UInt32: String] = [
            9: "Q8_1", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
            21: "IQ3_S", 22: "IQ2_S", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
            29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 40: "NVFP4",
        ]
        return names[ggmlIdentifier] ?? "number \(ggmlIdentifier)"
    }

    /// Bytes of `elements` elements, a whole number of blocks; nil when that overflows.
    func bytes(ofElements elements: Int) -> Int? {
        let (bytes, overflow) = (elements / blockElements).multipliedReportingOverflow(
            by: blockBytes)
        return overflow ? nil : bytes
    }
}

extension ElementType {
    /// Writes `blocks` x `blockElements` floats from blocks in memory; `TensorView` does it for
    /// those of a file.
    ///
    /// - Parameters:
    ///   - source: `blocks` x `blockBytes` readable bytes, of any alignment.
    ///   - blocks: The number of blocks; 0 is fine.
    ///   - out: Room for all floats.
    package func dequantize(
        from source: UnsafeRawPointer, blocks: Int, into out: UnsafeMutablePointer<Float>
    ) {
        QuantizationBlocks.dequantize(self, from: source, blocks: blocks, into: out)
    }
}
