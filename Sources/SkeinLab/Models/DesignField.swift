import SkeinModels
import SkeinTensors

/// A field of a design that can be switched off, to see that a check notices it.
enum DesignField: String, CaseIterable {
    case beforeAttention, afterAttention, beforeFeedForward, afterFeedForward
    case headNorms, attentionScale, attentionSoftCap, window, queryGrowth, activation
    case residualMultiplier, biases
    /// All layers are rotated, by the first table.
    case rotaryTable
    /// No layer is rotated.
    case rotation
    case divisors, longDivisors, attentionFactor
    /// Whole heads are rotated.
    case rotaryDimension
    case normOffset, embeddingMultiplier, logitsMultiplier, logitsSoftCap

    /// Makes the field what a plain Llama has. A design without it stays equal.
    ///
    /// - Parameters:
    ///   - design: changed in place.
    ///   - headDimension: elements of a head.
    func disable(_ design: inout DecoderDesign, headDimension: Int) {
        switch self {
        case .normOffset: design.normOffset = 0
        case .embeddingMultiplier: design.embeddingMultiplier = 1
        case .logitsMultiplier: design.logitsMultiplier = 1
        case .logitsSoftCap: design.logitsSoftCap = nil
        case .divisors, .longDivisors, .attentionFactor, .rotaryDimension:
            for index in design.rotaryTables.indices {
                disable(&design.rotaryTables[index], headDimension: headDimension)
            }
        default:
            for index in design.blocks.indices { disable(&design.blocks[index]) }
        }
    }

    private func disable(_ table: inout DecoderDesign.RotaryTable, headDimension: Int) {
        switch self {
        case .divisors: table.divisors = nil
        case .longDivisors:
            table.longDivisors = nil
            table.longFrom = .max
        case .attentionFactor: table.attentionFactor = 1
        case .rotaryDimension where table.dimension != headDimension:
            table.dimension = headDimension
            table.divisors = nil
            table.longDivisors = nil
        default: break
        }
    }

    private func disable(_ block: inout BlockDesign) {
        switch self {
        case .beforeAttention: block.norms.beforeAttention = nil
        case .afterAttention: block.norms.afterAttention = nil
        case .beforeFeedForward: block.norms.beforeFeedForward = nil
        case .afterFeedForward: block.norms.afterFeedForward = nil
        case .headNorms: block.headNorms = nil
        case .attentionScale: block.attentionScale = nil
        case .attentionSoftCap: block.attentionSoftCap = nil
        case .window: block.window = nil
        case .queryGrowth: block.queryGrowth = nil
        case .activation: block.activation = .swiGLU
        case .residualMultiplier: block.residualMultiplier = 1
        case .biases:
            for index in block.projections.indices { block.projections[index].hasBias = false }
        case .rotaryTable: block.rotaryTable = 0
        case .rotation: block.rotaryTable = nil
        default: break
        }
    }
}
