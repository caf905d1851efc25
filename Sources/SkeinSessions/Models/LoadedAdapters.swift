import SkeinAnswers
import SkeinBasics
import SkeinModels
import SkeinTraining
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
        let key = Key(path: adapter.path, files: try FileIdentity(of: adapter.path))
        let known: GenerationProjections? = entries.withLock { entries in
            guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let found = entries.remove(at: place)
            entries.append(found)
            return found.projections
        }
        if let known { return known }
        let admitted = try AdmittedAdapter(key.path, for: directory, rank: rank) {
            try self.room(for: $0)
        }
        try admitted.adapter.check(base: digest.wait())
        let projections = GenerationProjections(weights, adapter: admitted.adapter.parameters)
        memory.put(projections, into: admitted.room)
        entries.withLock { entries in
            entries.removeAll { $0.key.path == key.path }
            entries.append(Entry(key: key, projections: projections))
        }
        return projections
    }

    /// Room for another adapter; those that were not used for longest make it. One that a request holds
    /// keeps its memory until the request has ended.
    private func room(for bytes: Int) throws -> AdapterMemory.Room {
        while true {
            do {
                return try memory.room(for: bytes)
            } catch {
                let left = entries.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if left == nil { throw error }
            }
        }
    }
}
