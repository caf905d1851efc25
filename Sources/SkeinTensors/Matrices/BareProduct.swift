import CSkeinKernels

/// An fp32 product whose right factor is packed before, for benchmarks: what the tile alone does, beside
/// `MatMul`, which packs panels on the way.
///
/// Not Sendable: each thread makes its own. Only where fused multiply-add is (`MatMul.isOwn`).
package struct BareProduct {
    package let m: Int
    package let n: Int
    package let k: Int
    private let x: FloatBuffer
    /// [n / 64 rounded up, k, 64].
    private let panels: FloatBuffer
    private let y: FloatBuffer

    private static let columns = Int(SKEIN_PRODUCT_COLUMNS)

    /// All numbers of both factors are small and none is subnormal.
    package init(m: Int, n: Int, k: Int) {
        (self.m, self.n, self.k) = (m, n, k)
        x = FloatBuffer(count: m * k)
        panels = FloatBuffer(count: (n + Self.columns - 1) / Self.columns * Self.columns * k)
        y = FloatBuffer(count: m * n)
        for i in 0..<x.count { x.base[i] = Float(i % 29 - 14) / 16 }
        for i in 0..<panels.count { panels.base[i] = Float(i % 31 - 15) / 16 }
    }

    /// Multiplies and adds as often as the product with packing.
    package var operations: Int { 2 * m * n * k }

    /// Computes it on the calling thread.
    package func run() {
        let level = skein_level()
        for first in stride(from: 0, to: n, by: Self.columns) {
            var done = 0
            repeat {
                let depth = skein_product_depth(k - done)
                var panel = skein_panel(
                    x: x.base + done, row_x: k, step_x: 1,
                    w: panels.base + first * k + done * Self.columns, group_w: 16,
                    step_w: Self.columns, y: y.base + first, stride_y: n, rows: m,
                    n: min(Self.columns, n - first), k: depth, accumulate: done > 0 ? 1 : 0)
                skein_multiply_panel(level, &panel)
                done += depth
            } while done < k
        }
    }
}
