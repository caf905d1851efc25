import SkeinModels
import SkeinTensors

/// Some products of the same rows with packed weights, as the pieces of a fork compute them.
///
/// Only addresses are in it, because threads would count references one after the other; the batch keeps
/// alive what they lead to, and is kept alive itself by `withAddresses`.
struct RowProducts {
    /// A projection and where its result goes, [R, out].
    typealias Request = (module: TargetModule, out: UnsafeMutablePointer<Float>)

    struct Product {
        /// The first run's; weight and bias are the same in all runs.
        let projection: GenerationProjection
        let out: UnsafeMutablePointer<Float>
        /// Its parts in `parts`.
        let parts: Range<Int>
    }

    /// The rows of one adapter in a product.
    struct Part {
        let projection: GenerationProjection
        let rows: Range<Int>
        /// [rows, rank], for scale * X A^T.
        let reduced: UnsafeMutablePointer<Float>
    }

    private let batch: RowBatch
    let products: [Product]
    /// Product by product; those without an adapter have none.
    let parts: [Part]

    init(_ requests: [Request], _ layer: Int, _ batch: RowBatch, _ memory: GenerationMemory) {
        self.batch = batch
        var parts: [Part] = []
        products = requests.enumerated().map { place, request in
            let first = parts.count
            for run in batch.runs where run.projections.rank > 0 {
                let projection = run.projections[layer, request.module]
                if projection.adapter == nil { continue }
                parts.append(
                    Part(
                        projection: projection, rows: run.rows,
                        reduced: memory.reduced[place] + run.rows.lowerBound * memory.rank))
            }
            return Product(
                projection: batch.runs[0].projections[layer, request.module], out: request.out,
                parts: first..<parts.count)
        }
        self.parts = parts
    }

    /// Calls `body` with what the pieces may read until it returns.
    func withAddresses(_ body: (Addresses) -> Void) {
        withExtendedLifetime(batch) {
            products.withUnsafeBufferPointer { products in
                parts.withUnsafeBufferPointer { body(Addresses(products: products, parts: $0)) }
            }
        }
    }

    struct Addresses {
        fileprivate let products: UnsafeBufferPointer<Product>
        fileprivate let parts: UnsafeBufferPointer<Part>

        /// Groups of all products.
        var groups: Int { products.reduce(0) { $0 + $1.projection.weight.groups } }

        /// The products of some groups, where those of the products stand one after the other.
        func multiply(
            allGroups range: Range<Int>, _ vectors: InterleavedMatrix.Vectors, adding: Bool
        ) {
            var first = 0
            for product in products.indices {
                let count = products[product].projection.weight.groups
                let own = range.clamped(to: first..<(first + count))
                if !own.isEmpty {
                    multiply(
                        product, groups: (own.lowerBound - first)..<(own.upperBound - first),
                        vectors, adding: adding)
                }
                first += count
            }
        }

        /// Y = (adding ? Y : 0) + X W^T + bias + B reduced for the rows of some groups of one W.
        func multiply(
            _ product: Int, groups: Range<Int>, _ vectors: InterleavedMatrix.Vectors, adding: Bool
        ) {
            let product = products[product]
            let (base, y) = (product.projection, product.out)
            let stride = base.weight.rows
            let own = parts[product.parts]
            scaling(own, columns: base.weight.rows(ofGroups: groups), of: y, adding: adding) {
                base.weight.multiply(
                    groups: groups, vectors, into: y, stride: stride, adding: adding)
            }
            base.addBias(groups: groups, rows: vectors.count, to: y)
            for part in own {
                part.projection.expand(
                    groups: groups, part.reduced, rows: part.rows.count,
                    addingTo: y + part.rows.lowerBound * stride)
            }
        }

        /// Calls `body`; the rows of parts whose adapters have gains get its product scaled.
        private func scaling(
            _ parts: Slice<UnsafeBufferPointer<Part>>, columns: Range<Int>,
            of y: UnsafeMutablePointer<Float>, adding: Bool, _ body: () -> Void
        ) {
            guard let part = parts.first else { return body() }
            part.projection.scaling(
                columns: columns, rows: part.rows.count,
                of: y + part.rows.lowerBound * part.projection.weight.rows, adding: adding
            ) {
                scaling(parts.dropFirst(), columns: columns, of: y, adding: adding, body)
            }
        }
    }
}
