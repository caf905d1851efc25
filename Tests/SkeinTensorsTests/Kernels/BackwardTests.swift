import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Every backward pass against central differences of its forward pass.
@Suite struct BackwardTests {
    static let seed: UInt64 = 20_261_121

    private func numbers(_ count: Int, _ stream: UInt32, spread: Float = 1) -> [Float] {
        CentralDifference.numbers(count, seed: Self.seed, stream: stream, spread: spread)
    }

    private func weigh(_ y: [Float], _ weights: [Float]) -> Double {
        zip(y, weights).reduce(0) { $0 + Double($1.0) * Double($1.1) }
    }

    @Test("RMSNorm's dx is the derivative of its forward pass", arguments: [8, 13, 64])
    func rmsNorm(width: Int) {
        let tokens = 3
        let x = numbers(tokens * width, 1)
        let weight = numbers(width, 2)
        let pull = numbers(tokens * width, 3)
        func forward(_ x: [Float]) -> (y: [Float], inverse: [Float]) {
            var y = [Float](repeating: 0, count: x.count)
            var inverse = [Float](repeating: 0, count: tokens)
            RMSNorm.forward(
                x, weight: weight, epsilon: 1e-5, tokens: tokens, width: width, into: &y,
                inverse: &inverse)
            return (y, inverse)
        }
        var dx = [Float](repeating: 1, count: x.count)
        RMSNorm.backward(
            pull, x: x, weight: weight, inverse: forward(x).inverse, tokens: tokens,
            width: width, addingTo: &dx)
        let numeric = CentralDifference.gradient(at: x) { weigh(forward($0).y, pull) }
        let own = dx.map { Double($0) - 1 }
        #expect(CentralDifference.relativeError(own, numeric) < 1e-3)
    }

    @Test("SwiGLU's dg and du are the derivatives of its forward pass", arguments: [8, 21])
    func swiGLU(count: Int) {
        let gate = numbers(count, 4, spread: 2)
        let up = numbers(count, 5)
        let pull = numbers(count, 6)
        func forward(_ gate: [Float], _ up: [Float]) -> [Float] {
            var a = [Float](repeating: 0, count: count)
            GatedActivation.swiGLU.forward(gate: gate, up: up, count: count, into: &a)
            return a
        }
        var dGate = pull
        var dUp = [Float](repeating: 0, count: count)
        GatedActivation.swiGLU.backward(da: &dGate, gate: gate, up: up, count: count, du: &dUp)
        let numericGate = CentralDifference.gradient(at: gate) { weigh(forward($0, up), pull) }
        let numericUp = CentralDifference.gradient(at: up) { weigh(forward(gate, $0), pull) }
        #expect(CentralDifference.relativeError(dGate.map(Double.init), numericGate) < 1e-3)
        #expect(CentralDifference.relativeError(dUp.map(Double.init), numericUp) < 1e-3)
    }

    @Test("inverse rotation is the derivative of the rotary embedding")
    func rotary() {
        let rotary = RotaryEmbedding(headDimension: 12, theta: 100, divisors: nil, positions: 9)
        let x = numbers(4 * 2 * 12, 7)
        let pull = numbers(x.count, 8)
        func forward(_ x: [Float]) -> [Float] {
            var y = x
            rotary.rotate(&y, tokens: 4, heads: 2, firstPosition: 5)
            return y
        }
        var dx = pull
        rotary.rotate(&dx, tokens: 4, heads: 2, firstPosition: 5, inverse: true)
        let numeric = CentralDifference.gradient(at: x) { weigh(forward($0), pull) }
        #expect(CentralDifference.relativeError(dx.map(Double.init), numeric) < 1e-3)
    }

    @Test(
        "attention's dq, dk and dv are the derivatives of its forward pass",
        arguments: [
            (1, AttentionShape(heads: 1, keyValueHeads: 1, headDimension: 8)),
            (7, AttentionShape(heads: 4, keyValueHeads: 2, headDimension: 8)),
            (70, AttentionShape(heads: 3, keyValueHeads: 1, headDimension: 8)),
            (70, AttentionShape(heads: 3, keyValueHeads: 1, headDimension: 8, window: 9)),
            (
                70,
                AttentionShape(
                    heads: 1, keyValueHeads: 1, headDimension: 8, scale: 1, window: 66, softCap: 2)
            ),
        ])
    func attention(tokens: Int, shape: AttentionShape) {
        let (heads, groups, n) = (shape.heads, shape.keyValueHeads, shape.headDimension)
        let attention = Attention(shape)
        let q = numbers(tokens * heads * n, 9)
        let k = numbers(tokens * groups * n, 10)
        let v = numbers(tokens * groups * n, 11)
        let pull = numbers(q.count, 12)
        var scratch = [Float](repeating: 0, count: attention.scratchCount(tokens: tokens))
        func forward(_ q: [Float], _ k: [Float], _ v: [Float]) -> (out: [Float], lse: [Float]) {
            var out = [Float](repeating: 0, count: q.count)
            var lse = [Float](repeating: 0, count: tokens * heads)
            attention.forward(
                q: q, k: k, v: v, tokens: tokens, out: &out, logSumExp: &lse, scratch: &scratch,
                matMul: MatMul())
            return (out, lse)
        }
        let (out, lse) = forward(q, k, v)
        var dq = q
        var dk = k
        var dv = v
        attention.backward(
            q: q, k: k, v: v, out: out, dOut: pull, logSumExp: lse, tokens: tokens, dq: &dq,
            dk: &dk, dv: &dv, scratch: &scratch, matMul: MatMul())
        let some = { (count: Int) in Array(stride(from: 0, to: count, by: max(1, count / 90))) }
        let cases: [(own: [Float], at: [Float], of: ([Float]) -> [Float])] = [
            (dq, q, { forward($0, k, v).out }), (dk, k, { forward(q, $0, v).out }),
            (dv, v, { forward(q, k, $0).out }),
        ]
        for (index, item) in cases.enumerated() where tokens > 1 || index == 2 {
            let indices = some(item.at.count)
            let numeric = CentralDifference.gradient(at: item.at, indices: indices) {
                weigh(item.of($0), pull)
            }
            let own = indices.map { Double(item.own[$0]) }
            #expect(CentralDifference.relativeError(own, numeric) < 3e-3, "part \(index)")
        }
    }

    @Test("the gradient of cross-entropy is softmax minus the target")
    func crossEntropy() {
        let logits = numbers(19, 13, spread: 2)
        var row = logits
        let result = CrossEntropy.row(&row, vocabulary: 19, target: 4, gradient: true)
        let numeric = CentralDifference.gradient(at: logits) { point in
            var copy = point
            return CrossEntropy.row(&copy, vocabulary: 19, target: 4, gradient: false).loss
        }
        #expect(CentralDifference.relativeError(row.map(Double.init), numeric) < 1e-3)
        let sum = logits.reduce(0.0) { $0 + exp(Double($1)) }
        #expect(abs(result.loss - (log(sum) - Double(logits[4]))) < 1e-5)
    }

    @Test("rows of logits have the bits of each row alone", arguments: [1, 15, 64, 65, 577])
    func crossEntropyRows(vocabulary: Int) {
        let targets = [Int32](repeating: Int32(vocabulary / 2), count: 3)
        var logits = numbers(3 * vocabulary, 14, spread: 40)
        if vocabulary > 1 { logits[vocabulary - 1] = -.infinity }
        for gradient in [false, true] {
            var together = logits
            let rows = CrossEntropy.rows(
                &together, vocabulary: vocabulary, targets: targets[...], gradient: gradient)
            for (i, target) in targets.enumerated() {
                let range = i * vocabulary..<(i + 1) * vocabulary
                var alone = Array(logits[range])
                let row = CrossEntropy.row(
                    &alone, vocabulary: vocabulary, target: Int(target), gradient: gradient)
                #expect(rows[i].loss.bitPattern == row.loss.bitPattern)
                #expect(rows[i].correct == row.correct)
                #expect(together[range].map(\.bitPattern) == alone.map(\.bitPattern))
            }
        }
        #expect(
            CrossEntropy.rows(&logits, vocabulary: vocabulary, targets: [], gradient: true).isEmpty)
    }

    @Test("the largest probability still keeps something, and scales it by a finite number")
    func mostDropout() {
        let dropout = Dropout(probability: Float(Dropout.mostProbable), seed: 3)
        #expect(dropout.keptScale.isFinite && abs(dropout.keptScale / 10_000 - 1) < 0.1)
        var mask = [UInt8](repeating: 0, count: Dropout.maskBytes(1 << 20))
        dropout.draw(into: &mask, count: 1 << 20, step: 1, sequence: 2, place: 3)
        let kept = mask.reduce(0) { $0 + $1.nonzeroBitCount }
        // 112 are expected; 5 standard deviations are 53.
        #expect((59...165).contains(kept), "\(kept)")
    }

    @Test("dropout's backward pass multiplies by the mask of its forward pass")
    func dropout() {
        let dropout = Dropout(probability: 0.25, seed: 3)
        var mask = [UInt8](repeating: 0, count: Dropout.maskBytes(1003))
        dropout.draw(into: &mask, count: 1003, step: 1, sequence: 2, place: 3)
        let x = [Float](repeating: 1, count: 1003)
        var y = x
        dropout.apply(x, mask: mask, count: 1003, into: &y)
        var dx = [Float](repeating: 0, count: 1003)
        dropout.add(x, mask: mask, count: 1003, to: &dx)
        #expect(y == dx)
        #expect(Set(y) == [0, dropout.keptScale])
        #expect(abs(dropout.keptScale - 4 / 3) < 1e-4)
        let kept = Double(y.filter { $0 != 0 }.count) / 1003
        #expect(abs(kept - 0.75) < 0.05)
        var other = mask
        dropout.draw(into: &other, count: 1003, step: 2, sequence: 2, place: 3)
        #expect(other != mask)
    }
}
