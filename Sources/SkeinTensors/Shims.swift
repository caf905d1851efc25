import CSkeinKernels
import Foundation

package struct AttentionShape: Sendable, Equatable {
    package var heads: Int
    package var keyValueHeads: Int
    package var headDimension: Int
    package var scale: Float
    package var window: Int?
    package var softCap: Float?
    package init(heads: Int, keyValueHeads: Int, headDimension: Int, scale: Float? = nil, window: Int? = nil, softCap: Float? = nil) {
        self.heads = heads
        self.keyValueHeads = keyValueHeads
        self.headDimension = headDimension
        self.scale = scale ?? 1 / Float(headDimension).squareRoot()
        self.window = window
        self.softCap = softCap
    }
}
extension Attention {
    package init(_ s: AttentionShape) { self.init(heads: s.heads, keyValueHeads: s.keyValueHeads, headDimension: s.headDimension) }
    package func scratchCount(tokens: Int) -> Int { Self.scratchCount(tokens: tokens) }
}
extension RoundedAttention {
    package init(_ s: AttentionShape) { self.init(heads: s.heads, keyValueHeads: s.keyValueHeads, headDimension: s.headDimension) }
}
extension CachedAttention {
    package init(_ s: AttentionShape, capacity: Int, appended: Int) { self.init(heads: s.heads, keyValueHeads: s.keyValueHeads, headDimension: s.headDimension, capacity: capacity) }
    package func remembers(_ tokens: Int, of count: Int) -> Bool { true }
}
package enum SoftCap {
    package static func forward(_ x: UnsafeMutablePointer<Float>, _ n: Int, cap: Float) { for i in 0..<n { x[i] = cap * tanh(x[i] / cap) } }
    package static func backward(_ dy: UnsafeMutablePointer<Float>, y: UnsafePointer<Float>, _ n: Int, cap: Float) { for i in 0..<n { let t = y[i] / cap; dy[i] *= 1 - t * t } }
}
package enum GatedActivation: Sendable {
    case swiGLU
    case geGLU
    package func forward(gate: UnsafePointer<Float>, up: UnsafePointer<Float>, count: Int, into a: UnsafeMutablePointer<Float>) { SwiGLU.forward(gate: gate, up: up, count: count, into: a) }
    package func forward(gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>, rows: Int, columns: Int, into a: UnsafeMutablePointer<UInt16>) { SwiGLU.forward(gate: gate, up: up, rows: rows, columns: columns, into: a) }
    package func backward(da: UnsafeMutablePointer<Float>, gate: UnsafePointer<Float>, up: UnsafePointer<Float>, count: Int, du: UnsafeMutablePointer<Float>) { SwiGLU.backward(da: da, gate: gate, up: up, count: count, du: du) }
    package func backward(da: UnsafePointer<UInt16>, gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>, rows: Int, columns: Int, dg: UnsafeMutablePointer<UInt16>, du: UnsafeMutablePointer<UInt16>) { SwiGLU.backward(da: da, gate: gate, up: up, rows: rows, columns: columns, dg: dg, du: du) }
}
package enum Vector {
    package static func scale(_ x: UnsafeMutablePointer<Float>, _ n: Int, by f: Float) { skein_scale(skein_level(), x, n, f) }
    package static func add(_ x: UnsafePointer<Float>, _ n: Int, times f: Float, to y: UnsafeMutablePointer<Float>) { for i in 0..<n { y[i] += f * x[i] } }
    package static func addRow(_ b: UnsafePointer<Float>, _ columns: Int, toEachOf rows: Int, in y: UnsafeMutablePointer<Float>) { for r in 0..<rows { for i in 0..<columns { y[r * columns + i] += b[i] } } }
}
extension RMSNorm {
    package static func backward(
        _ dy: UnsafePointer<Float>, x: UnsafePointer<Float>, weight: UnsafePointer<Float>,
        inverse: UnsafePointer<Float>, tokens: Int, width: Int,
        into dx: UnsafeMutablePointer<Float>
    ) {
        let t = UnsafeMutablePointer<Float>.allocate(capacity: tokens * width)
        t.update(repeating: 0, count: tokens * width)
        backward(dy, x: x, weight: weight, inverse: inverse, tokens: tokens, width: width, addingTo: t)
        dx.update(from: t, count: tokens * width)
        t.deallocate()
    }
}
