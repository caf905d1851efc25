import SkeinBasics
import SkeinInference
import SkeinModels

/// The adapters that are given at the start (`--adapter`). They are read and checked before the base's
/// weights are, which takes much longer.
struct GivenAdapters {
    private(set) var adapters: [(name: String, adapter: AdmittedAdapter)] = []

    /// - Parameters:
    ///   - given: names and paths.
    ///   - taken: names that are others'.
    ///   - model: the base.
    ///   - rank: the largest for which there is room.
    ///   - memory: of all adapters.
    /// - Throws: `ServeError`, `AdapterMemoryError`; what `LoadedAdapter` throws.
    init(
        _ given: [OpenAIServer.Options.NamedAdapter], besides taken: [String],
        for model: ModelDirectory, rank: Int, memory: AdapterMemory
    ) throws {
        var taken = Set(taken)
        for name in given.map(\.name) {
            guard ServedModels.isName(name) else {
                throw ServeError.badName(name: APIError.printable(name), from: .adapter)
            }
            guard taken.insert(name).inserted else {
                throw ServeError.nameTaken(name: name, from: .adapter)
            }
        }
        for adapter in given {
            let admitted = try AdmittedAdapter(adapter.path, for: model, rank: rank) { bytes in
                let held = memory.heldBytes
                guard held + bytes <= memory.byteLimit else {
                    throw ServeError.givenTooLarge(
                        adapter: adapter.path, bytes: held + bytes, limit: memory.byteLimit)
                }
                return try memory.reserve(bytes)
            }
            adapters.append((adapter.name, admitted))
        }
    }

    /// Checks that they were made for the base, as far as they say for which.
    ///
    /// - Throws: `AdapterError.otherBase`.
    func check(base: SHA256.Digest) throws(AdapterError) {
        for (_, admitted) in adapters { try admitted.adapter.check(base: base) }
    }
}
