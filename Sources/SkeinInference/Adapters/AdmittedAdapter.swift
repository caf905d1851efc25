import SkeinModels
import SkeinText

/// An adapter that was read after room was found for it.
package struct AdmittedAdapter: Sendable {
    package let adapter: LoadedAdapter
    package let reservation: AdapterMemory.Reservation

    /// Reads an adapter. Its rank and its size are known, and checked, before its numbers are read.
    ///
    /// - Parameters:
    ///   - path: of the adapter.
    ///   - model: the base.
    ///   - limit: the largest rank for which there is room.
    ///   - reserve: keeps room for so many bytes.
    /// - Throws: `AdapterMemoryError.rankTooLarge`, `.changed`; what `reserve` and `LoadedAdapter`
    ///   throw.
    package init(
        _ path: String, for model: ModelDirectory, rank limit: Int,
        reserve: @escaping (_ bytes: Int) throws -> AdapterMemory.Reservation
    ) throws {
        var found: AdapterMemory.Reservation?
        var announced = 0
        adapter = try LoadedAdapter.read(path, for: model, matching: ModulePatterns.matching) {
            shape in
            let rank = shape.configuration.largestRank
            guard rank <= limit else {
                throw AdapterMemoryError.rankTooLarge(adapter: path, rank: rank, limit: limit)
            }
            announced = GenerationProjections.byteCount(of: shape)
            found = try reserve(announced)
        }
        // Its files may be written anew while they are read.
        let shape = adapter.parameters.shape
        guard shape.configuration.largestRank <= limit,
            GenerationProjections.byteCount(of: shape) <= announced
        else { throw AdapterMemoryError.changed(path: path) }
        guard let found else {
            preconditionFailure("what an adapter announces comes before its numbers")
        }
        reservation = found
    }
}
