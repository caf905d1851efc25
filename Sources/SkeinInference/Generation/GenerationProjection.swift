import SkeinBasics
import SkeinModels
import SkeinTensors

/// One projection for generation: y = W x + bias + scale * B (A x); with gains (DoRA),
/// y = g * (W x) + bias + scale * (g * B) (A x).
///
/// It holds only addresses, because threads that copied it would count references one after the other;
/// the `GenerationProjections` or the edges that it is of keep alive what they lead to.
struct GenerationProjection: @unchecked Sendable {
    // Its memory is only read once it is packed.

    /// An adapter's two matrices, packed as F32.
    struct Adapter {
        /// [R, in].
        let a: InterleavedMatrix
        /// [out, R].
        let b: InterleavedMatrix
        let scale: Float
        /// [out], what rows of W x are multiplied by; those of `b` already are. nil: nothing.
        let gains: UnsafePointer<Float>?
    }

    let weight: InterleavedMatrix
    /// The weight as prompts in int8 take it; nil: they do not.
    let codes: Unmanaged<QuantizedPanels>?
    /// [out]; nil: none.
    let bias: UnsafePointer<Float>?
    let adapter: Adapter?

    /// Calls `body`, which adds rows of W x to Y, or sets them; with gains, Y gets them scaled.
    ///
    /// Shapes and ranges:
    ///   - columns: of Y that `body` changes.
    ///   - y: [rows, out].
    func scaling(
        columns: Range<Int>, rows: Int, of y: UnsafeMutablePointer<Float>, adding: Bool,
        _ body: () -> Void
    ) {
        guard let gains = adapter?.gains else { return body() }
        let (count, first, width) = (columns.count, columns.lowerBound, weight.rows)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: adding ? rows * count : 0) {
            memory in
            if adding, let kept = memory.baseAddress {
                for row in 0..<rows {
                    (kept + row * count).update(from: y + row * width + first, count: count)
                    (y + row * width + first).update(repeating: 0, count: count)
                }
            }
            body()
            for row in 0..<rows {
                let out = y + row * width + first
                for i in 0..<count { out[i] *= gains[first + i] }
                if adding, let kept = memory.baseAddress {
                    for i in 0..<count { out[i] += kept[row * count + i] }
                }
            }
        }
    }

    /// R; 0 without an adapter.
    var rank: Int { adapter?.a.rows ?? 0 }

    /// reduced = scale * (X A^T), [rows, R]: each row as if it were alone. Nothing without an adapter.
    func reduce(
        _ vectors: InterleavedMatrix.Vectors, into reduced: UnsafeMutablePointer<Float>
    ) {
        guard let adapter else { return }
        adapter.a.multiply(
            groups: 0..<adapter.a.groups, vectors, into: reduced, stride: adapter.a.rows)
        for i in 0..<(vectors.count * adapter.a.rows) { reduced[i] *= adapter.scale }
    }

    /// reduced = scale * (X A^T), [tokens, R]; nothing without an adapter.
    func reduce(
        tokens: Int, _ x: UnsafePointer<Float>, into reduced: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>
    ) {
        guard let adapter else { return }
        adapter.a.multiply(
            groups: 0..<adapter.a.groups, tokens: tokens, x, into: reduced, scratch: scratch)
        for i in 0..<(tokens * adapter.a.rows) { reduced[i] *= adapter.scale }
    }

    /// Y += bias for the rows of some groups, Y: [rows, out].
    func addBias(groups: Range<Int>, rows: Int, to y: UnsafeMutablePointer<Float>) {
        guard let bias else { return }
        let first = groups.lowerBound * InterleavedMatrix.groupRows
        let count = min(weight.rows, groups.upperBound * InterleavedMatrix.groupRows) - first
        for row in 0..<rows {
            Rows.add(
                bias + first, times: 1, count: count, to: y + row * weight.rows + first)
        }
    }

    /// Y += reduced B^T for the rows of some groups; nothing without an adapter.
    ///
    /// Shapes and ranges:
    ///   - reduced: [rows, R].
    ///   - y: [rows, out].
    func expand(
        groups: Range<Int>, _ reduced: UnsafePointer<Float>, rows: Int,
        addingTo y: UnsafeMutablePointer<Float>
    ) {
        guard let adapter else { return }
        let rank = adapter.a.rows
        // B is F32, which needs no spread vector.
        let vectors = InterleavedMatrix.Vectors(
            x: reduced, stride: rank, spread: reduced, spreadStride: rank, count: rows)
        adapter.b.multiply(
            groups: groups, vectors, into: y, stride: weight.rows, adding: true)
    }

    /// Y = (adding ? Y : 0) + X W^T + bias + reduced B^T for the rows of some groups of W.
    ///
    /// Shapes and ranges:
    ///   - groups: in int8 whole panels of `QuantizedPanels.panelRows`.
    ///   - x: [tokens, in].
    ///   - reduced: [tokens, R].
    ///   - y: [tokens, out].
    func multiply(
        groups: Range<Int>, tokens: Int, _ x: Operand,
        reduced: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>, adding: Bool,
        scratch: UnsafeMutablePointer<Float>
    ) {
        let columns = weight.rows(ofGroups: groups)
        scaling(columns: columns, rows: tokens, of: y, adding: adding) {
            switch x {
            case .single(let x):
                weight.multiply(
                    groups: groups, tokens: tokens, x, into: y, adding: adding, scratch: scratch)
            case .rounded(let x):
                weight.multiply(groups: groups, x, into: y, adding: adding, scratch: scratch)
            case .quantized(let x):
                guard let codes else {
                    preconditionFailure("a prompt in int8 has weights in int8")
                }
                codes._withUnsafeGuaranteedRef {
                    $0.multiply(
                        rows: columns, x, into: y + columns.lowerBound, stride: weight.rows,
                        accumulating: adding)
                }
            }
        }
        addBias(groups: groups, rows: tokens, to: y)
        adapter?.b.multiply(
            groups: groups, tokens: tokens, reduced, into: y, adding: true, scratch: scratch)
    }
}

/// All projections of a model, with the packed matrices of one adapter or of none; many sequences
/// share them.
package final class GenerationProjections: Sendable {
    let weights: GenerationWeights
    /// Per layer, in the order of `BlockDesign.projections`.
    private let layers: [[GenerationProjection]]
    /// Per layer, `BlockDesign.places`.
    private let places: [[Int]]
    /// The embedding and the head.
    let edges: GenerationEdges
    /// The largest R; 0 without an adapter.
    package let rank: Int
    private let memory: InterleavedMemory?
    /// Those of `layers`; empty without an adapter.
    private let gains: [[FloatBuffer?]]
    /// SHA-256 of the adapter's numbers, ranks and scales. Made with the rest: in a step all
    /// answers would wait for it.
    let digest: SHA256.Digest

    /// `adapter`: nil for the base model.
    package convenience init(_ weights: GenerationWeights, adapter: AdapterParameters?) {
        self.init(weights, adapter: adapter?.shape, parameters: adapter?.values)
    }

    init(_ weights: GenerationWeights, adapter: AdapterShape?, parameters: [Float]?) {
        self.weights = weights
        places = weights.blocks.map(\.places)
        guard let adapter, let parameters else {
            layers = weights.blocks.map { block in
                block.projections.indices.map {
                    GenerationProjection(
                        weight: block.projections[$0],
                        codes: block.codes[$0].map { Unmanaged.passUnretained($0) },
                        bias: block.vectors.biases[$0].map { UnsafePointer($0.base) },
                        adapter: nil)
                }
            }
            rank = 0
            memory = nil
            gains = []
            edges = .none
            digest = Self.digest(of: layers, edges, nil)
            return
        }
        precondition(parameters.count == adapter.layout.count, "parameters of another adapter")
        let (gains, values) = GenerationGains.all(weights, adapter, parameters)
        let memory = InterleavedMemory(byteCount: Self.packedBytes(of: adapter))
        var next = memory.base
        func packed(_ rows: Int, _ columns: Int, at offset: Int) -> InterleavedMatrix {
            let matrix = InterleavedMatrix(.f32, rows: rows, columns: columns, at: next)
            next += InterleavedMatrix.byteCount(.f32, rows: rows, columns: columns)
            values.withUnsafeBufferPointer { values in
                guard let base = values.baseAddress else { return }
                for group in 0..<matrix.groups {
                    let first = matrix.rows(ofGroup: group).lowerBound
                    matrix.pack(group: group, rowMajor: base + offset + first * columns)
                }
            }
            return matrix
        }
        layers = zip(weights.blocks, adapter.pairs).enumerated().map { layer, both in
            let (block, pairs) = both
            return block.projections.indices.map { index in
                GenerationProjection(
                    weight: block.projections[index],
                    codes: block.codes[index].map { Unmanaged.passUnretained($0) },
                    bias: block.vectors.biases[index].map { UnsafePointer($0.base) },
                    adapter: pairs[index].map { pair in
                        GenerationProjection.Adapter(
                            a: packed(pair.rank, pair.inputs, at: pair.a),
                            b: packed(pair.outputs, pair.rank, at: pair.b), scale: pair.scale,
                            gains: gains[layer][index].map { UnsafePointer($0.base) })
                    })
            }
        }
        edges = GenerationEdges(
            embedding: adapter.embedding.map { GenerationEdges.Embedding($0, values) },
            head: adapter.head.map { pair in
                GenerationProjection(
                    weight: weights.head, codes: nil, bias: nil,
                    adapter: GenerationProjection.Adapter(
                        a: packed(pair.rank, pair.inputs, at: pair.a),
                        b: packed(pair.outputs, pair.rank, at: pair.b), scale: pair.scale,
                        gains: nil))
            })
        rank = adapter.configuration.largestRank
        self.memory = memory
        self.gains = gains
        digest = Self.digest(of: layers, edges, memory)
    }

    private static func digest(
        of layers: [[GenerationProjection]], _ edges: GenerationEdges, _ memory: InterleavedMemory?
    ) -> SHA256.Digest {
        var hash = SHA256()
        let facts = layers.joined().map { projection in
            projection.adapter.map { "\($0.a.rows) \($0.scale.bitPattern)" } ?? "none"
        }
        hash.update(facts.joined(separator: "; "))
        edges.update(&hash)
        for projection in layers.joined() {
            guard let gains = projection.adapter?.gains else { continue }
            hash.update(UnsafeRawBufferPointer(start: gains, count: 4 * projection.weight.rows))
        }
        if let memory {
            hash.update(UnsafeRawBufferPointer(start: memory.base, count: memory.byteCount))
        }
        return hash.finish()
    }

    /// Bytes of the adapter's packed matrices and of the tables that find them; the weights are not
    /// among them.
    package var byteCount: Int {
        layers.reduce((memory?.byteCount ?? 0) + edges.byteCount) { sum, layer in
            layer.reduce(sum) {
                $0 + Self.tableBytes + ($1.adapter?.gains == nil ? 0 : 4 * $1.weight.rows)
            }
        }
    }

    /// The same, before an adapter of this shape is packed.
    package static func byteCount(of adapter: AdapterShape) -> Int {
        let outside = GenerationEdges.byteCount(of: adapter)
        return adapter.pairs.reduce(packedBytes(of: adapter) + outside) { sum, layer in
            layer.reduce(sum) { sum, pair in
                sum + tableBytes + (pair?.magnitude == nil ? 0 : 4 * (pair?.outputs ?? 0))
            }
        }
    }

    private static func packedBytes(of adapter: AdapterShape) -> Int {
        (adapter.pairs.joined() + [adapter.head]).reduce(0) { sum, pair in
            guard let pair else { return sum }
            return sum + InterleavedMatrix.byteCount(.f32, rows: pair.rank, columns: pair.inputs)
                + InterleavedMatrix.byteCount(.f32, rows: pair.outputs, columns: pair.rank)
        }
    }

    /// What one projection takes in `layers` and `places`.
    private static let tableBytes =
        MemoryLayout<GenerationProjection>.stride + MemoryLayout<Int>.stride

    subscript(_ layer: Int, _ module: TargetModule) -> GenerationProjection {
        layers[layer][places[layer][module.rawValue]]
    }
}
