/// The norm of a gradient, and clipping by it.
package enum GradientNorm {
    /// Divides a sum gradient by the number of loss tokens: the gradient of the mean loss.
    package static func divide(_ gradient: inout [Float], by lossTokens: Int) {
        let divisor = Float(lossTokens)
        gradient.withUnsafeMutableBufferPointer { gradient in
            for i in 0..<gradient.count { gradient[i] /= divisor }
        }
    }

    /// The Euclidean norm over all parameters; NaN or infinite when an element is.
    ///
    /// The squares are summed in Double, in eight sums by i mod 8 that are then added in pairs:
    /// always the same order, whatever the vector width of the machine.
    package static func norm(of gradient: [Float]) -> Double {
        gradient.withUnsafeBufferPointer { gradient in
            var sums = SIMD8<Double>(repeating: 0)
            let whole = gradient.count & ~7
            for start in stride(from: 0, to: whole, by: 8) {
                var lane = SIMD8<Double>()
                for i in 0..<8 { lane[i] = Double(gradient[start + i]) }
                sums += lane * lane
            }
            for i in whole..<gradient.count {
                let value = Double(gradient[i])
                sums[i - whole] += value * value
            }
            let quads = sums.lowHalf + sums.highHalf
            let pairs = quads.lowHalf + quads.highHalf
            return (pairs.x + pairs.y).squareRoot()
        }
    }

    /// Scales the gradient by min(1, maximum / (norm + 1e-6)), as PyTorch's clip_grad_norm_ does.
    ///
    /// - Parameters:
    ///   - gradient: scaled in place.
    ///   - norm: of `gradient`.
    ///   - maximum: 0 switches clipping off.
    /// - Returns: the factor, 1 if nothing was scaled.
    @discardableResult
    package static func clip(_ gradient: inout [Float], norm: Double, maximum: Double) -> Double {
        guard maximum > 0 else { return 1 }
        let factor = min(1, maximum / (norm + 1e-6))
        guard factor < 1 else { return 1 }
        let scale = Float(factor)
        gradient.withUnsafeMutableBufferPointer { gradient in
            for i in 0..<gradient.count { gradient[i] *= scale }
        }
        return factor
    }

    /// Index of the first element that is NaN or infinite; nil when all are finite.
    package static func firstNotFinite(in gradient: [Float]) -> Int? {
        gradient.withUnsafeBufferPointer { gradient in
            for start in stride(from: 0, to: gradient.count, by: 1024) {
                let end = min(start + 1024, gradient.count)
                // Without the sign, and one added to the exponent: the top bit is set only if the
                // exponent was all ones.
                var sums: UInt32 = 0
                for i in start..<end {
                    sums |= (gradient[i].bitPattern & 0x7FFF_FFFF) &+ 0x0080_0000
                }
                if sums & 0x8000_0000 != 0 {
                    return (start..<end).first { !gradient[$0].isFinite }
                }
            }
            return nil
        }
    }
}
