import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import Synchronization

/// The models that requests can name: one base, and adapters on the one copy of it. Any thread may
/// ask; loading an adapter takes the time of reading its file.
package final class ServedModels: Sendable {
    /// How many adapters there may be, and from where.
    struct Settings: Sendable {
        /// Adapters at once, those given at the start included.
        var adapters = 16
        /// The largest rank, for which memory is taken at the start.
        var rank = 64
        /// Of all adapters.
        var memory: AdapterMemory
        var root: AdapterRoot?
        /// Takes adapters that say that they were made for another base.
        var anyBase = false
        /// Seconds since 1970.
        var date: @Sendable () -> Int = ServeSources().date
        /// Hears of each adapter that is read for a request, and of the first of a run that is followed.
        var remark: @Sendable (LoadedAdapter) -> Void = { _ in }
    }

    private struct State {
        /// In the order in which they came; the base is first.
        var models: [ServedModel] = []
        /// Checkpoints that requests named (`RUN@50`), the latest used one last.
        var checkpoints: [ServedModel] = []
    }

    let base: ServedModel
    private let model: ModelDirectory
    /// SHA-256 of the base model's files.
    let digest: SHA256.Digest
    private let weights: GenerationWeights
    private let settings: Settings
    private let state = Mutex(State())

    /// - Parameters:
    ///   - model: of the weights; its metadata is read again when an adapter is.
    ///   - name: what requests call it.
    ///   - digest: of its files.
    ///   - weights: the one copy.
    ///   - settings: limits.
    /// - Throws: `ServeError.badName`.
    init(
        _ model: ModelDirectory, name: String, digest: SHA256.Digest, weights: GenerationWeights,
        settings: Settings
    ) throws(ServeError) {
        guard Self.isName(name) else {
            throw .badName(name: APIError.printable(name), from: .base)
        }
        self.model = model
        self.digest = digest
        self.weights = weights
        self.settings = settings
        base = ServedModel(
            id: name, root: FilePath.name(of: model.path), parent: nil, created: settings.date(),
            step: nil, files: nil,
            projections: GenerationProjections(weights, adapter: nil))
        state.withLock { $0.models = [base] }
    }

    /// All that can be named without reading a file.
    var list: [ServedModel] { state.withLock { $0.models + $0.checkpoints } }

    /// The model of a request; nil means the base.
    ///
    /// - Throws: an `APIError` that says which there are.
    func model(named name: String?) throws(APIError) -> ServedModel {
        guard let name, name != base.id else { return base }
        if let found = state.withLock({ $0.models.first { $0.id == name } }) { return found }
        if let checkpoint = CheckpointName(name) {
            if let found = try self.checkpoint(checkpoint, name) { return found }
        }
        throw unknown(name)
    }

    /// `run`: as the ids of its checkpoints spell it.
    private func unknown(_ name: String, run: String? = nil) -> APIError {
        // Its checkpoint may be gone since it was loaded; without the newest there is none at all.
        if let gone = CheckpointName(name) {
            let run = run ?? gone.run
            state.withLock { state in
                state.checkpoints.removeAll { model in
                    guard let known = CheckpointName(model.id) else { return false }
                    return known.run == run && (gone.step == nil || gone.step == known.step)
                }
            }
        }
        return .unknownModel(name, known: list.map(\.id))
    }

    /// Loads an adapter under a name.
    ///
    /// - Throws: `ServeError`, `AdapterMemoryError`; what `LoadedAdapter` throws.
    func load(_ name: String, path: String) throws {
        guard Self.isName(name) else {
            throw ServeError.badName(name: APIError.printable(name), from: .request)
        }
        try checkPlace(for: name)
        let (loaded, adapter) = try read(name, path: path)
        try add(loaded)
        settings.remark(adapter)
    }

    /// Takes an adapter that was read, checked and named already.
    ///
    /// - Throws: `ServeError.nameTaken`, `.tooManyAdapters`.
    func add(_ name: String, _ adapter: AdmittedAdapter) throws(ServeError) {
        try add(served(name, adapter))
    }

    private func add(_ loaded: ServedModel) throws(ServeError) {
        try state.withLock { (state) throws(ServeError) in
            // Somebody else may have been faster.
            guard !state.models.contains(where: { $0.id == loaded.id }) else {
                throw .nameTaken(name: loaded.id, from: .request)
            }
            guard state.models.count <= settings.adapters else {
                throw .tooManyAdapters(limit: settings.adapters)
            }
            state.models.append(loaded)
        }
    }

    /// Puts a newer checkpoint of a run in the place of the one that has its name.
    ///
    /// - Throws: `AdapterMemoryError`, what `LoadedAdapter` throws; the older one stays.
    func replace(_ name: String, path: String, step: Int) throws {
        let (loaded, adapter) = try read(name, path: path, step: step)
        let isFirst = state.withLock { state in
            guard let place = state.models.firstIndex(where: { $0.id == name }) else {
                state.models.append(loaded)
                return true
            }
            state.models[place] = loaded
            return false
        }
        // Later ones of the run were trained as the first.
        if isFirst { settings.remark(adapter) }
    }

    /// Forgets an adapter. Answers that wait or are under way keep it, and its memory, until they end.
    ///
    /// - Returns: false if there is none of this name, or it is the base.
    func unload(_ name: String) -> Bool {
        state.withLock { state in
            guard name != base.id, !isFollowed(name),
                let place = state.models.firstIndex(where: { $0.id == name })
            else { return false }
            state.models.remove(at: place)
            return true
        }
    }

    /// The directory in which clients may name adapters; nil: they may not.
    var root: AdapterRoot? { settings.root }

    /// Of all adapters.
    var memory: AdapterMemory { settings.memory }

    private func checkPlace(for name: String) throws(ServeError) {
        let models = state.withLock { $0.models }
        if models.contains(where: { $0.id == name }) || isFollowed(name) {
            throw .nameTaken(name: name, from: .request)
        }
        if models.count > settings.adapters { throw .tooManyAdapters(limit: settings.adapters) }
    }

    private func read(
        _ name: String, path: String, step: Int? = nil, files: FileIdentity? = nil
    ) throws -> (model: ServedModel, adapter: LoadedAdapter) {
        let admitted = try AdmittedAdapter(path, for: model, rank: settings.rank) {
            try self.reserve($0)
        }
        if !settings.anyBase { try admitted.adapter.check(base: digest) }
        return (served(name, admitted, step: step, files: files), admitted.adapter)
    }

    /// Room for another adapter; checkpoints that nobody uses make it.
    private func reserve(_ bytes: Int) throws(AdapterMemoryError) -> AdapterMemory.Reservation {
        while true {
            do {
                return try settings.memory.reserve(bytes)
            } catch {
                guard case .full(_, let held, let limit) = error,
                    forgetCheckpoints(of: held + bytes - limit)
                else { throw error }
            }
        }
    }

    /// Forgets as many of the checkpoints that no request holds as take so many bytes, those first that
    /// were not named for longest.
    ///
    /// - Returns: false, and nothing is forgotten, if all of them take less.
    private func forgetCheckpoints(of wanted: Int) -> Bool {
        let forgotten = state.withLock { state in
            var (idle, bytes) = (Set<String>(), 0)
            settings.memory.whileUnwatched {
                for place in state.checkpoints.indices where bytes < wanted {
                    // True for objects with weak references with 6.3.1's runtime on Linux (a test holds it);
                    // one that says no would keep idle checkpoints.
                    guard isKnownUniquelyReferenced(&state.checkpoints[place].projections) else {
                        continue
                    }
                    idle.insert(state.checkpoints[place].id)
                    bytes += state.checkpoints[place].projections.byteCount
                }
            }
            guard bytes >= wanted else { return [ServedModel]() }
            let forgotten = state.checkpoints.filter { idle.contains($0.id) }
            state.checkpoints.removeAll { idle.contains($0.id) }
            return forgotten
        }
        // Their memory is given back outside of the lock.
        return !forgotten.isEmpty
    }

    private func served(
        _ name: String, _ admitted: AdmittedAdapter, step: Int? = nil, files: FileIdentity? = nil
    ) -> ServedModel {
        let adapter = admitted.adapter
        let projections = GenerationProjections(weights, adapter: adapter.parameters)
        settings.memory.put(projections, into: admitted.reservation)
        return ServedModel(
            id: name, root: shown(adapter.path), parent: base.id, created: settings.date(),
            step: step, files: files, projections: projections)
    }

    /// A path as clients see it: what lies around it is none of their business.
    private func shown(_ path: String) -> String {
        if let root, path.hasPrefix(root.path + "/") {
            return String(path.dropFirst(root.path.count + 1))
        }
        return FilePath.name(of: path)
    }

    // MARK: Checkpoints of runs

    /// The checkpoint that was read from these files; it is the latest used one now.
    private func known(_ id: String, _ files: FileIdentity) -> ServedModel? {
        state.withLock { state in
            guard
                let place = state.checkpoints.firstIndex(where: {
                    $0.id == id && $0.files == files
                })
            else { return nil }
            let found = state.checkpoints.remove(at: place)
            state.checkpoints.append(found)
            return found
        }
    }

    /// A checkpoint of a run below the root, or of the run that is followed; nil: there is neither.
    private func checkpoint(
        _ name: CheckpointName, _ whole: String
    ) throws(APIError) -> ServedModel? {
        // What lies above the run is none of a client's business.
        var above = root?.path
        var run = name.run
        do {
            let directory: String
            let isFollowed = followedRun.withLock { $0?.name == run }
            if isFollowed, let followed = followedRun.withLock({ $0 }) {
                directory = followed.directory
                above = FilePath.parent(of: directory)
            } else if let root {
                guard let found = try Self.run(name.run, below: root) else { return nil }
                directory = found
                // One name for one run, however it is spelled.
                run = root.relative(directory)
                guard Self.isName(run) else { return nil }
            } else {
                return nil
            }
            var (step, path) = try name.find(in: directory)
            if !isFollowed, let root { path = try root.resolveAdapter(path) }
            let id = "\(run)@\(step)"
            // The run may have been trained anew since. Asked before the files are read: if they change
            // meanwhile, the next request reads them again.
            let files = try FileIdentity(of: path)
            if let known = known(id, files) { return known }
            let (loaded, adapter): (ServedModel, LoadedAdapter)
            do {
                (loaded, adapter) = try read(id, path: path, step: step, files: files)
            } catch AdapterMemoryError.full(let bytes, let held, let limit) {
                // Another request may have been faster with the same one.
                guard let known = known(id, files) else {
                    throw AdapterMemoryError.full(bytes: bytes, held: held, limit: limit)
                }
                return known
            }
            state.withLock { state in
                state.checkpoints.removeAll { $0.id == id }
                state.checkpoints.append(loaded)
                // The one that was not used for longest leaves.
                let others = state.models.count - 1
                while state.checkpoints.count > 1,
                    others + state.checkpoints.count > settings.adapters
                {
                    state.checkpoints.removeFirst()
                }
            }
            settings.remark(adapter)
            return loaded
        } catch {
            switch error {
            case ServeError.outsideRoot: return nil
            case ServeError.noCheckpoint:
                throw unknown(whole, run: run)
            default:
                let problem = APIError(error, param: "model")
                throw above.map { problem.hiding($0) } ?? problem
            }
        }
    }

    /// The directory of a run; nil: there is none.
    private static func run(_ name: String, below root: AdapterRoot) throws -> String? {
        do {
            return try root.resolve(name)
        } catch {
            switch error {
            case ServeError.outsideRoot, FileError.failed(_, _, ENOENT),
                FileError.failed(_, _, ENOTDIR):
                return nil
            default: throw error
            }
        }
    }

    /// The run whose checkpoints may be named without a root.
    private let followedRun = Mutex<(name: String, directory: String)?>(nil)

    /// Lets requests name the checkpoints of a run; its name is nobody else's from then on.
    ///
    /// - Throws: `ServeError.nameTaken`.
    func follow(_ name: String, in directory: String) throws(ServeError) {
        guard !list.contains(where: { $0.id == name }) else {
            throw .nameTaken(name: name, from: .followed)
        }
        followedRun.withLock { $0 = (name, directory) }
    }

    private func isFollowed(_ name: String) -> Bool {
        followedRun.withLock { $0?.name == name }
    }

    /// Whether requests can name a model so. `@` is for checkpoints. A name may have slashes, as
    /// `ORG/NAME` has, but is no path.
    static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return (1...Limits.nameBytes).contains(name.utf8.count)
            && parts.allSatisfy { !["", ".", ".."].contains($0) }
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: Array("._-:/+".utf8).contains(byte)
                }
            }
    }
}
