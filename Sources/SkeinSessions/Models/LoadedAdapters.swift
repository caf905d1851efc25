import SkeinBasics
import SkeinInference
import SkeinModels
import Synchronization

/// The adapters of one base model that are in memory. The base's weights are there once: a request
/// adds its adapter's products to the base's.
final class LoadedAdapters: Sendable {
    private struct Key: Equatable {
        var path: String
        var files: FileIdentity
    }

    private struct Entry {
        var key: Key
        var projections: GenerationProjections
    }

    private let directory: ModelDirectory
    private let digest: Background<SHA256.Digest>
    private let weights: GenerationWeights
    private let rank: Int
    private let memory: AdapterMemory
    private let base: GenerationProjections
    /// The latest used one last.
    private let entries = Mutex([Entry]())

    init(
        _ directory: ModelDirectory, digest: Background<SHA256.Digest>, weights: GenerationWeights,
        rank: Int, memory: AdapterMemory
    ) {
        self.directory = directory
        self.digest = digest
        self.weights = weights
        self.rank = rank
        self.memory = memory
        base = GenerationProjections(weights, adapter: nil)
    }

    /// What a request computes with. Reads the adapter if it is not in memory, or if its files are
    /// others than those that are; on the preparing thread, so one at a time.
    ///
    /// - Throws: `AdapterError.otherBase` with both hashes; what reading it throws.
    func projections(
        of adapter: SystemLanguageModel.Adapter?
    ) throws -> GenerationProjections {
        guard let adapter else { return base }
        // Said before its numbers are looked at: another base is mostly of another shape, too.
        let found = digest.wait().description
        if let stated = adapter.baseDigest, stated.lowercased() != found {
            throw AdapterError.otherBase(
                adapter: adapter.path, expected: stated, found: found)
        }
        do {
            return try read(adapter)
        } catch {
            switch error {
            case AdapterMemoryError.full: throw ReplyFailure.adaptersFull
            case AdapterMemoryError.rankTooLarge(_, let rank, let limit):
                throw SystemLanguageModel.Adapter.AssetError.invalidAsset(
                    .init(
                        debugDescription: "the adapter's rank is \(rank), and there is room for "
                            + "\(limit) (\(adapter.path)): raise maximumRank in "
                            + "SystemLanguageModel.Resources"))
            case AdapterMemoryError.tooLarge(let bytes, let limit):
                throw SystemLanguageModel.Adapter.AssetError.invalidAsset(
                    .init(
                        debugDescription: "the adapter takes \(bytes) bytes, and all adapters may "
                            + "take \(limit) (\(adapter.path)): raise adapterBytes in "
                            + "SystemLanguageModel.Resources"))
            case is AdapterError: throw error
            default: throw SystemLanguageModel.Adapter.AssetError.invalidAsset(.init(error))
            }
        }
    }

    private func read(
        _ adapter: SystemLanguageModel.Adapter
    ) throws -> GenerationProjections {
        let key = Key(path: adapter.path, files: try FileIdentity(of: adapter.path))
        let known: GenerationProjections? = entries.withLock { entries in
            guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let found = entries.remove(at: place)
            entries.append(found)
            return found.projections
        }
        if let known { return known }
        let admitted = try AdmittedAdapter(key.path, for: directory, rank: rank) {
            try self.reserve($0)
        }
        try admitted.adapter.check(base: digest.wait())
        let projections = GenerationProjections(weights, adapter: admitted.adapter.parameters)
        memory.put(projections, into: admitted.reservation)
        entries.withLock { entries in
            entries.removeAll { $0.key.path == key.path }
            entries.append(Entry(key: key, projections: projections))
        }
        return projections
    }

    /// Room for another adapter; those that were not used for longest make it. One that a request holds
    /// keeps its memory until the request has ended.
    private func reserve(_ bytes: Int) throws -> AdapterMemory.Reservation {
        while true {
            do {
                return try memory.reserve(bytes)
            } catch {
                guard case .full = error, forgetIdle() else { throw error }
            }
        }
    }

    /// Forgets the adapter that was not used for longest of those that no request holds.
    ///
    /// - Returns: whether there was one.
    private func forgetIdle() -> Bool {
        let left = entries.withLock { entries -> Entry? in
            memory.whileUnwatched {
                let place = entries.indices.first {
                    isKnownUniquelyReferenced(&entries[$0].projections)
                }
                return place.map { entries.remove(at: $0) }
            }
        }
        // Its memory is given back outside of the lock.
        return left != nil
    }
}
