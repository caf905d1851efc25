import SkeinBasics
import SkeinModels
import SkeinTensors

/// An adapter's changes of the embedding and the head, as generation reads them.
struct GenerationEdges: Sendable {
    /// scale * B A[:, token], which is added to a token's row.
    struct Embedding: Sendable {
        let rank: Int
        /// [V, R], scale * A transposed: a token's numbers are neighbours.
        let rows: FloatBuffer
        /// [R, D], B transposed.
        let columns: FloatBuffer

        init(_ pair: AdapterShape.Pair, _ parameters: [Float]) {
            rank = pair.rank
            rows = FloatBuffer(count: pair.inputs * pair.rank)
            columns = FloatBuffer(count: pair.rank * pair.outputs)
            parameters.withUnsafeBufferPointer { values in
                guard let values = values.baseAddress else { return }
                LowRank.transpose(
                    values + pair.a, rows: pair.rank, columns: pair.inputs, into: rows.base)
                LowRank.transpose(
                    values + pair.b, rows: pair.outputs, columns: pair.rank, into: columns.base)
            }
            Rows.scale(rows.base, count: rows.count, by: pair.scale)
        }

        /// Adds to a row of the embedding, [D].
        func add(_ token: Int, width: Int, to row: UnsafeMutablePointer<Float>) {
            LowRank.expand(
                rows.base + token * rank, tokens: 1, rank: rank, by: columns.base, columns: width,
                addingTo: row)
        }
    }

    /// nil: the embedding is not adapted.
    let embedding: Embedding?
    /// nil: the head is not adapted.
    let head: GenerationProjection?

    static let none = GenerationEdges(embedding: nil, head: nil)

    /// Bytes beside the packed matrices of the head.
    var byteCount: Int { 4 * ((embedding?.rows.count ?? 0) + (embedding?.columns.count ?? 0)) }

    /// The same, before an adapter of this shape is packed.
    static func byteCount(of adapter: AdapterShape) -> Int {
        adapter.embedding.map { 4 * $0.rank * ($0.inputs + $0.outputs) } ?? 0
    }

    /// Adds what `GenerationProjections.digest` has not seen.
    func update(_ hash: inout SHA256) {
        if let head = head?.adapter {
            hash.update("; head \(head.a.rows) \(head.scale.bitPattern)")
        }
        guard let embedding else { return }
        hash.update("; embedding \(embedding.rank)")
        for buffer in [embedding.rows, embedding.columns] {
            hash.update(UnsafeRawBufferPointer(start: buffer.base, count: 4 * buffer.count))
        }
    }
}

extension GenerationPass {
    /// A token's row of the embedding with its adapter, times the family's factor.
    func embed(_ token: Int32, row: Int, _ projections: GenerationProjections) {
        let to = memory.residual + row * model.width
        weights.embedding.copyRow(Int(token), into: to, scratch: memory.scratch[0])
        projections.edges.embedding?.add(Int(token), width: model.width, to: to)
        let factor = model.design.embeddingMultiplier
        if factor != 1 { Rows.scale(to, count: model.width, by: factor) }
    }

    /// logits = head(normed) for some rows; `runs`: those of each adapter.
    func predict(_ normed: UnsafePointer<Float>, rows: Int, _ runs: [RowBatch.Run]) {
        let (head, logits, memory) = (weights.head, memory.logits, memory)
        let vectors = spread(normed, rows: rows, columns: head.columns)
        let adapted = runs.compactMap { run in
            run.projections.edges.head.map { (projection: $0, rows: run.rows) }
        }
        for (projection, rows) in adapted {
            projection.reduce(
                vectors[rows], into: memory.reduced[0] + rows.lowerBound * memory.rank)
        }
        announceBeginning(of: 0)
        run(groups: head.groups) { groups in
            head.multiply(groups: groups, vectors, into: logits, stride: head.rows)
            for (projection, rows) in adapted {
                projection.expand(
                    groups: groups, memory.reduced[0] + rows.lowerBound * memory.rank,
                    rows: rows.count, addingTo: logits + rows.lowerBound * head.rows)
            }
        }
    }
}

extension RowBatch {
    /// The runs of some of its rows, ascending, as they stand one after the other.
    func runs(of wanted: [Int]) -> [Run] {
        runs.compactMap { run in
            let places = wanted.indices.filter { run.rows.contains(wanted[$0]) }
            guard let first = places.first, let last = places.last else { return nil }
            return Run(projections: run.projections, rows: first..<last + 1)
        }
    }
}
