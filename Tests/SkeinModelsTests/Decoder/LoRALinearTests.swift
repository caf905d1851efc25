import Foundation
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinModels

/// A projection with an adapter that is so large that its columns are made in parts.
@Suite struct LoRALinearTests {
    struct Shape: CustomTestStringConvertible, Sendable {
        let rows: Int
        let outputs: Int
        var testDescription: String { "\(rows) rows, \(outputs) outputs" }
    }

    /// Their last part is narrower than the others, but with 2048 outputs, where the rows of B^T are a
    /// multiple of 4 KiB apart, so that each part copies its own.
    static let shapes = [
        Shape(rows: 512, outputs: 700), Shape(rows: 200, outputs: 1500),
        Shape(rows: 128, outputs: 2048),
    ]

    /// Without fused multiply-add OpenBLAS computes in fp32, and its bits depend on shapes.
    static let types = ComputeType.allCases.filter { $0 != .fp32 || MatMul.isOwn }

    /// Numbers for a projection, and the memory that it uses.
    private struct Subject {
        static let rank = 11

        let rows: Int
        let weight: WeightMatrix
        let x: FloatBuffer
        let a: FloatBuffer
        let b: FloatBuffer
        let zeros: FloatBuffer
        let operand: FloatBuffer
        let scratch: FloatBuffer
        let transposed: FloatBuffer
        let reduced: FloatBuffer
        let mask: FloatBuffer
        /// Memory of a backward pass and of magnitudes, which no test here needs.
        let unused = FloatBuffer(count: 1)
        let matMul = MatMul()

        init(
            _ model: ModelDirectory, rows: Int, _ compute: ComputeType,
            _ residence: WeightResidence
        ) throws {
            self.rows = rows
            var loader = WeightLoader(residence: residence, compute: compute)
            weight = try loader.add(model.tensor("model.layers.0.mlp.up_proj.weight"))
            let isFilled = loader.run(threads: 1) { _ in true }
            try #require(isFilled)
            let (outputs, inputs) = (weight.rows, weight.columns)
            x = Self.numbers(rows * inputs, 1)
            a = Self.numbers(Self.rank * inputs, 2)
            b = Self.numbers(outputs * Self.rank, 3)
            zeros = FloatBuffer(count: outputs)
            zeros.base.update(repeating: 0, count: outputs)
            let bytes = max(
                RoundedRows.bytes(rows: rows, columns: inputs),
                QuantizedRows.bytes(rows: rows, columns: inputs))
            operand = FloatBuffer(count: (bytes + 3) / 4)
            scratch = FloatBuffer(count: model.configuration.largestStreamedFloats(compute))
            transposed = FloatBuffer(count: Self.rank * outputs)
            reduced = FloatBuffer(count: rows * Self.rank)
            mask = FloatBuffer(count: (rows * Dropout.maskBytes(inputs) + 3) / 4)
        }

        private static func numbers(_ count: Int, _ stream: UInt32) -> FloatBuffer {
            let buffer = FloatBuffer(count: count)
            buffer.base.update(
                from: CentralDifference.numbers(count, seed: 21, stream: stream), count: count)
            return buffer
        }

        /// With a bias all columns are made at once; this one adds zeros.
        func linear(
            hasBias: Bool = false, dropout: Bool, place: WorkSharing.Place? = nil
        ) -> LoRALinear {
            let draw = DropoutDraw(
                dropout: Dropout(probability: 0.3, seed: 4), step: 2, place: 5,
                offsets: [0, rows / 3, rows], sequenceNumbers: [3, 8], rows: nil)
            let kept = BatchMemory.Adapted(
                reduced: reduced.base, mask: memory(mask, as: UInt8.self), magnitude: nil)
            let adapter = LoRALinear.Adapter(
                a: a.base, b: b.base, rank: Self.rank, scale: 0.5, magnitude: nil, memory: kept,
                dropout: dropout ? draw : nil)
            return LoRALinear(
                weight: weight, bias: hasBias ? zeros : nil, adapter: adapter, rows: rows,
                transposed: transposed.base, reducedGradient: unused.base,
                scaledGradient: unused.base, roundedA: memory(unused, as: UInt16.self),
                tools: WeightMatrix.Tools(
                    matMul: matMul.sharing(place), scratch: scratch.base,
                    quantized: UnsafeMutableRawPointer(unused.base)))
        }

        /// y, or what was there and y.
        func forward(_ linear: LoRALinear, onto start: [Float]?) -> [Float] {
            var y = start ?? [Float](repeating: .nan, count: rows * weight.rows)
            linear.forward(x.base, input, into: &y, accumulating: start != nil)
            return y
        }

        private var input: Operand {
            let columns = weight.columns
            switch weight.input {
            case .single: return .single(x.base)
            case .rounded:
                return .rounded(
                    RoundedRows(
                        rounding: x.base, stride: columns, rows: rows, columns: columns,
                        in: operand.base))
            case .quantized:
                return .quantized(
                    QuantizedRows(
                        quantizing: x.base, stride: columns, rows: rows, columns: columns,
                        in: operand.base))
            }
        }

        private func memory<Element>(
            _ buffer: FloatBuffer, as type: Element.Type
        ) -> UnsafeMutablePointer<Element> {
            UnsafeMutableRawPointer(buffer.base).assumingMemoryBound(to: type)
        }
    }

    /// Runs `body` at a place that another thread helps.
    private func withHelper<Result>(_ body: (WorkSharing.Place) -> Result) -> Result {
        let sharing = WorkSharing(threadCount: 2)
        let ended = DispatchSemaphore(value: 0)
        sharing.enter()
        Thread.detachNewThread {
            sharing.help(as: 1) { false }
            ended.signal()
        }
        let place = sharing.place(of: 0)
        while !place.hasHelpers { Thread.sleep(forTimeInterval: 0.001) }
        let result = body(place)
        sharing.leave()
        ended.wait()
        return result
    }

    /// The result when all columns are made at once. It compares those in parts, and with a helper.
    private func result(
        _ subject: Subject, dropout: Bool, onto start: [Float]?, _ what: Comment
    ) -> [Float] {
        let whole = subject.linear(hasBias: true, dropout: dropout)
        let alone = WorkSharing(threadCount: 2).place(of: 0)
        let cut = subject.linear(dropout: dropout, place: alone)
        #expect(whole.parts.count == 1 && cut.parts.count > 1, what)
        let expected = subject.forward(whole, onto: start)
        let isSameInParts = subject.forward(cut, onto: start) == expected
        #expect(isSameInParts, what)
        let helped = withHelper { place in
            let linear = subject.linear(dropout: dropout, place: place)
            return (parts: linear.parts.count, y: subject.forward(linear, onto: start))
        }
        let isSameWithHelp = helped.y == expected
        #expect(helped.parts == 1 && isSameWithHelp, what)
        return expected
    }

    @Test(
        "a projection that is made in parts has the bits of one that is made at once",
        arguments: shapes, types)
    func parts(shape: Shape, compute: ComputeType) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.layerCount = 1
            tiny.feedForwardWidth = shape.outputs
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let numbers = CentralDifference.numbers(
                shape.rows * shape.outputs, seed: 21, stream: 4)
            for residence in WeightResidence.allCases {
                let subject = try Subject(model, rows: shape.rows, compute, residence)
                for start in [nil, numbers] {
                    let results = [false, true].map { dropout in
                        result(
                            subject, dropout: dropout, onto: start,
                            "\(residence), dropout \(dropout), accumulating \(start != nil)")
                    }
                    let dropoutMatters = results[0] != results[1]
                    #expect(dropoutMatters)
                }
            }
        }
    }
}
