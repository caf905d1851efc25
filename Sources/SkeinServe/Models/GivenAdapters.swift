import SkeinBasics
import SkeinModels
import SkeinTraining

/// The adapters that are given at the start (`--adapter`). They are read and checked before the base's
/// weights are, which takes much longer.
struct GivenAdapters {
    private(set) var adapters: [(name: String, adapter: LoadedAdapter)] = []

    /// - Parameters:
    ///   - given: names and paths.
    ///   - taken: names that are others'.
    ///   - model: the base.
    ///   - rank: the largest for which there is room.
    /// - Throws: `ServeError`; what `LoadedAdapter` throws.
    init(
        _ given: [OpenAIServer.Options.NamedAdapter], besides taken: [String],
        for model: ModelDirectory, rank: Int
    ) throws {
        var taken = Set(taken)
        for name in given.map(\.name) {
            guard ServedModels.isName(name) else {
                throw ServeError.badName(name: APIError.printable(name))
            }
            guard taken.insert(name).inserted else { throw ServeError.nameTaken(name: name) }
        }
        for adapter in given {
            let loaded = try LoadedAdapter.read(adapter.path, for: model)
            try loaded.check(rank: rank)
            adapters.append((adapter.name, loaded))
        }
    }

    /// Checks that they were made for the base, as far as they say for which.
    ///
    /// - Throws: `AdapterError.otherBase`.
    func check(base: SHA256.Digest) throws(AdapterError) {
        for (_, adapter) in adapters { try adapter.check(base: base) }
    }
}

extension LoadedAdapter {
    /// - Throws: `ServeError.rankTooLarge`.
    func check(rank limit: Int) throws(ServeError) {
        let rank = parameters.shape.configuration.largestRank
        guard rank <= limit else {
            throw .rankTooLarge(adapter: path, rank: rank, limit: limit)
        }
    }
}
