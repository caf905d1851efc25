import SkeinBasics
import SkeinFormats
import SkeinTensors

extension KernelBench {
    private static let float = MemoryLayout<Float>.stride

    /// Kernels that pass once over their floats.
    var elementwise: [Kernel] {
        normalization + activation + [rotation, crossEntropy, softCap] + dropout
    }

    private var normalization: [Kernel] {
        let (tokens, width) = (sizes.tokens, sizes.width)
        let x = Operands.buffer(tokens * width, stream: 20)
        let dy = Operands.buffer(tokens * width, stream: 21)
        let weight = Operands.buffer(width, stream: 22)
        let y = FloatBuffer(count: tokens * width)
        let dx = Operands.buffer(tokens * width, stream: 23)
        let inverse = FloatBuffer(count: tokens)
        let forward = {
            RMSNorm.forward(
                x.base, weight: weight.base, epsilon: 1e-5, tokens: tokens, width: width,
                into: y.base, inverse: inverse.base)
        }
        forward()
        let (rows, head) = (tokens * sizes.heads, sizes.headDimension)
        let heads = Operands.buffer(rows * head, stream: 31)
        let normed = FloatBuffer(count: rows * head)
        let headInverse = FloatBuffer(count: rows)
        return [
            kernel("RMSNorm of heads", size: "\(rows) x \(head)", floats: 2 * rows * head) {
                RMSNorm.forward(
                    heads.base, weight: weight.base, epsilon: 1e-5, tokens: rows, width: head,
                    into: normed.base, inverse: headInverse.base)
            },
            kernel("RMSNorm forward", floats: 2 * tokens * width, forward),
            // dy, x and dx are read, dx is written.
            kernel("RMSNorm backward", floats: 4 * tokens * width) {
                RMSNorm.backward(
                    dy.base, x: x.base, weight: weight.base, inverse: inverse.base,
                    tokens: tokens, width: width, addingTo: dx.base)
            },
        ]
    }

    private var activation: [Kernel] {
        let count = sizes.tokens * sizes.feedForward
        // With these, backward multiplies da by exactly 1, so that it stays as it is from call to
        // call: silu'(0) = gelu'(0) = 1/2.
        let gate = FloatBuffer(count: count)
        let up = FloatBuffer(count: count)
        gate.base.update(repeating: 0, count: count)
        up.base.update(repeating: 2, count: count)
        let a = Operands.buffer(count, stream: 24)
        let da = Operands.buffer(count, stream: 25)
        let du = FloatBuffer(count: count)
        let size = "\(sizes.tokens) x \(sizes.feedForward)"
        return [("SwiGLU", GatedActivation.swiGLU), ("GeGLU", .geGLU)].flatMap { name, kind in
            [
                kernel("\(name) forward", size: size, floats: 3 * count) {
                    kind.forward(gate: gate.base, up: up.base, count: count, into: a.base)
                },
                // da, gate and up are read, da and du are written.
                kernel("\(name) backward", size: size, floats: 5 * count) {
                    kind.backward(
                        da: da.base, gate: gate.base, up: up.base, count: count, du: du.base)
                },
            ]
        }
    }

    private var rotation: Kernel {
        let s = sizes
        let rotary = RotaryEmbedding(
            headDimension: s.headDimension, theta: 100_000, divisors: nil, positions: s.tokens)
        let q = Operands.buffer(s.tokens * s.width, stream: 27)
        return kernel("RoPE", floats: 2 * s.tokens * s.width) {
            rotary.rotate(q.base, tokens: s.tokens, heads: s.heads, firstPosition: 0)
        }
    }

    private var crossEntropy: Kernel {
        let (rows, vocabulary) = (sizes.headRows, sizes.vocabulary)
        let logits = Operands.buffer(rows * vocabulary, stream: 28)
        let targets = Array(0..<Int32(rows))
        return kernel(
            "cross-entropy rows", size: "\(rows) x \(vocabulary)", floats: 2 * rows * vocabulary
        ) {
            _ = CrossEntropy.rows(
                logits.base, vocabulary: vocabulary, targets: targets[...], gradient: true)
        }
    }

    /// Capped logits stay capped: from call to call they hardly change.
    private var softCap: Kernel {
        let count = sizes.headRows * sizes.vocabulary
        let logits = Operands.buffer(count, stream: 32)
        let size = "\(sizes.headRows) x \(sizes.vocabulary)"
        return kernel("soft cap", size: size, floats: 2 * count) {
            SoftCap.forward(logits.base, count: count, cap: 30)
        }
    }

    /// Drawing computes much for each byte of the mask, so its share of a copy's rate is small.
    private var dropout: [Kernel] {
        let count = sizes.tokens * sizes.width
        let dropout = Dropout(probability: 0.05, seed: 0)
        let x = Operands.buffer(count, stream: 29)
        let y = FloatBuffer(count: count)
        let maskBytes = Dropout.maskBytes(count)
        let mask = ByteBuffer(count: maskBytes)
        dropout.draw(into: mask.base, count: count, step: 1, sequence: 0, place: 0)
        let size = "\(sizes.tokens) x \(sizes.width)"
        return [
            Kernel(name: "dropout draw", size: size, limit: .copy(bytes: maskBytes)) {
                dropout.draw(into: mask.base, count: count, step: 1, sequence: 0, place: 0)
            },
            Kernel(
                name: "dropout apply", size: size,
                limit: .copy(bytes: 2 * count * Self.float + maskBytes)
            ) {
                dropout.apply(x.base, mask: mask.base, count: count, into: y.base)
            },
        ]
    }

    /// The ledger's hash of a gradient, rounding it to int8, and dequantizing blocks of a model
    /// file.
    var bytes: [Kernel] {
        let gradient = Operands.buffer(sizes.adapter, stream: 30)
        let hash = Kernel(
            name: "SHA-256", size: "\(sizes.adapter) floats",
            limit: .copy(bytes: sizes.adapter * Self.float)
        ) {
            _ = SHA256.digest(
                of: UnsafeRawBufferPointer(
                    start: gradient.base, count: gradient.count * MemoryLayout<Float>.stride))
        }
        let random = AddressedRandom(seed: 0, purpose: .rounding)
        let rounding = Kernel(
            name: "int8 rounding", size: "\(sizes.adapter) floats",
            limit: .copy(bytes: 2 * sizes.adapter * Self.float)
        ) {
            LevelRounding.round(gradient.base, count: gradient.count, random: random, 1, 0)
        }
        return [hash, rounding] + [ElementType.q4x0, .q4x1, .q8x0].map(dequantization)
    }

    private func dequantization(_ type: ElementType) -> Kernel {
        let count = sizes.feedForward * sizes.width
        let blocks = count / type.blockElements
        // Bytes of 1 make small, normal scales and codes in range.
        let source = ByteBuffer(count: blocks * type.blockBytes)
        source.base.update(repeating: 1, count: source.count)
        let out = FloatBuffer(count: count)
        return Kernel(
            name: "dequantize \(type.name)", size: "\(sizes.feedForward) x \(sizes.width)",
            limit: .copy(bytes: source.count + count * Self.float)
        ) {
            type.dequantize(from: source.base, blocks: blocks, into: out.base)
        }
    }

    /// `floats` counts those read and written, together.
    private func kernel(
        _ name: String, size: String? = nil, floats: Int, _ run: @escaping () -> Void
    ) -> Kernel {
        Kernel(
            name: name, size: size ?? "\(sizes.tokens) x \(sizes.width)",
            limit: .copy(bytes: floats * Self.float), run: run)
    }
}

/// Bytes that live as long as the object.
private final class ByteBuffer {
    let base: UnsafeMutablePointer<UInt8>
    let count: Int

    init(count: Int) {
        base = .allocate(capacity: max(1, count))
        self.count = count
    }

    deinit { base.deallocate() }
}
