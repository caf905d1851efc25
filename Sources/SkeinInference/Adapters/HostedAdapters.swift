import SkeinBasics
import SkeinModels
import Synchronization

/// An adapter that stays in memory as long as there is room for it.
package struct HostedAdapter: Sendable {
    /// What it is found by, such as its path.
    package let id: String
    package let path: String
    /// Which files it was read from.
    package let files: FileIdentity
    /// Seconds since 1970 when it was read.
    package let date: Int
    package fileprivate(set) var projections: GenerationProjections
}

/// The adapters on one base model. The base's weights are there once: a request adds its adapter's
/// products to the base's. Any thread may ask; reading an adapter takes the time of reading its file.
///
/// What was read by `adapter` stays, and leaves when another one needs its room, the one that was not used
/// for longest first. One that a request holds never leaves: its memory would not be free. What `read`
/// and `place` give is its caller's.
package final class HostedAdapters: Sendable {
    /// Its metadata is read again when an adapter is.
    package let model: ModelDirectory
    /// What a request without an adapter computes with.
    package let plain: GenerationProjections
    /// SHA-256 of the base's files.
    package let digest: Background<SHA256.Digest>
    /// The room of all adapters.
    package let memory: AdapterMemory
    private let rank: Int
    private let anyBase: Bool
    /// Seconds since 1970.
    package let date: @Sendable () -> Int
    /// The latest used one last.
    private let entries = Mutex([HostedAdapter]())

    /// - Parameters:
    ///   - model: the base, to which they are added.
    ///   - weights: of the base.
    ///   - digest: of its files.
    ///   - rank: the largest for which there is room.
    ///   - memory: of all adapters.
    ///   - anyBase: takes adapters that say that they were made for another base.
    ///   - date: seconds since 1970.
    package init(
        _ model: ModelDirectory, _ weights: GenerationWeights,
        digest: Background<SHA256.Digest>, rank: Int, memory: AdapterMemory, anyBase: Bool,
        date: @escaping @Sendable () -> Int
    ) {
        self.model = model
        self.digest = digest
        self.rank = rank
        self.memory = memory
        self.anyBase = anyBase
        self.date = date
        plain = GenerationProjections(weights, adapter: nil)
    }

    /// The adapters that stay, the latest used one last.
    package var list: [HostedAdapter] { entries.withLock { $0 } }

    /// The adapter at a path, which is read if it is not in memory, or if its files are others than those
    /// that are. It is the latest used one now.
    ///
    /// - Parameters:
    ///   - id: by which it is known; another one of this id leaves.
    ///   - path: of its files.
    ///   - count: how many may stay beside it, asked when it was read.
    ///   - whenRead: hears of one that was read.
    /// - Returns: the adapter, which stays while the caller holds its projections.
    /// - Throws: as `read`; `FileError`.
    package func adapter(
        _ id: String, at path: String, keeping count: () -> Int = { .max },
        whenRead: (LoadedAdapter) -> Void = { _ in }
    ) throws -> HostedAdapter {
        // Asked before the files are read: if they change meanwhile, the next request reads them again.
        let files = try FileIdentity(of: path)
        if let known = known(id, files) { return known }
        let (adapter, projections): (LoadedAdapter, GenerationProjections)
        do {
            (adapter, projections) = try read(path)
        } catch AdapterMemoryError.full(let bytes, let held, let limit) {
            // Another request may have been faster with the same one.
            guard let known = known(id, files) else {
                throw AdapterMemoryError.full(bytes: bytes, held: held, limit: limit)
            }
            return known
        }
        let hosted = HostedAdapter(
            id: id, path: adapter.path, files: files, date: date(), projections: projections)
        let others = count()
        entries.withLock { entries in
            entries.removeAll { $0.id == id }
            if entries.count > others { entries.removeFirst(entries.count - max(0, others)) }
            entries.append(hosted)
        }
        whenRead(adapter)
        return hosted
    }

    /// The adapter that was read from these files; it is the latest used one now.
    private func known(_ id: String, _ files: FileIdentity) -> HostedAdapter? {
        entries.withLock { entries in
            guard let place = entries.firstIndex(where: { $0.id == id && $0.files == files })
            else { return nil }
            let found = entries.remove(at: place)
            entries.append(found)
            return found
        }
    }

    /// Forgets those that stay. Requests keep theirs until they end.
    package func forget(where isGone: (HostedAdapter) -> Bool) {
        entries.withLock { $0.removeAll(where: isGone) }
    }

    /// Reads an adapter, after room was made for it. Its caller keeps it.
    ///
    /// - Throws: `AdapterMemoryError`, `AdapterError.otherBase` with both hashes; what `LoadedAdapter`
    ///   throws.
    package func read(_ path: String) throws -> (LoadedAdapter, GenerationProjections) {
        let admitted = try AdmittedAdapter(path, for: model, rank: rank) {
            try self.reserve($0)
        }
        if !anyBase { try admitted.adapter.check(base: digest.wait()) }
        return (admitted.adapter, place(admitted))
    }

    /// What requests compute with, in the room that was kept for it.
    package func place(_ admitted: AdmittedAdapter) -> GenerationProjections {
        let projections = GenerationProjections(plain.weights, adapter: admitted.adapter.parameters)
        memory.put(projections, into: admitted.reservation)
        return projections
    }

    /// Room for another adapter; those that are not used make it.
    private func reserve(_ bytes: Int) throws(AdapterMemoryError) -> AdapterMemory.Reservation {
        while true {
            do {
                return try memory.reserve(bytes)
            } catch {
                guard case .full(_, let held, let limit) = error,
                    forgetIdle(of: held + bytes - limit)
                else { throw error }
            }
        }
    }

    /// Forgets as many of the adapters that no request holds as take so many bytes, those first that were
    /// not used for longest.
    ///
    /// - Returns: false, and nothing is forgotten, if all of them take less.
    private func forgetIdle(of wanted: Int) -> Bool {
        let forgotten = entries.withLock { entries in
            var (idle, bytes) = (Set<String>(), 0)
            memory.whileUnwatched {
                for place in entries.indices where bytes < wanted {
                    // True for objects with weak references with 6.3.1's runtime on Linux (a test holds it);
                    // one that says no would keep idle adapters.
                    guard isKnownUniquelyReferenced(&entries[place].projections) else { continue }
                    idle.insert(entries[place].id)
                    bytes += entries[place].projections.byteCount
                }
            }
            guard bytes >= wanted else { return [HostedAdapter]() }
            let forgotten = entries.filter { idle.contains($0.id) }
            entries.removeAll { idle.contains($0.id) }
            return forgotten
        }
        // Their memory is given back outside of the lock.
        return !forgotten.isEmpty
    }
}
