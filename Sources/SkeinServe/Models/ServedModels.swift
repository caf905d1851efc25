import Foundation
import SkeinBasics
import SkeinModels
import SkeinTraining
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
        var root: AdapterRoot?
        /// Takes adapters that say that they were made for another base.
        var anyBase = false
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
        guard Self.isName(name) else { throw .badName(name: APIError.printable(name)) }
        self.model = model
        self.digest = digest
        self.weights = weights
        self.settings = settings
        base = ServedModel(
            id: name, root: FilePath.name(of: model.path), parent: nil, created: Self.now,
            step: nil,
            projections: GenerationProjections(weights, adapter: nil))
        state.withLock { $0.models = [base] }
    }

    private static var now: Int { Int(Date().timeIntervalSince1970) }

    /// All that can be named without reading a file.
    var list: [ServedModel] { state.withLock { $0.models + $0.checkpoints } }

    /// The model of a request; nil means the base.
    ///
    /// - Throws: an `APIError` that says which there are.
    func model(named name: String?) throws(APIError) -> ServedModel {
        guard let name, name != base.id else { return base }
        if let found = list.first(where: { $0.id == name }) {
            touch(found)
            return found
        }
        if let checkpoint = CheckpointName(name) {
            if let found = try self.checkpoint(checkpoint, name) { return found }
        }
        throw .unknownModel(name, known: list.map(\.id))
    }

    /// Loads an adapter under a name.
    ///
    /// - Throws: `ServeError`; what `LoadedAdapter` throws.
    @discardableResult
    func load(_ name: String, path: String, step: Int? = nil) throws -> ServedModel {
        guard Self.isName(name) else { throw ServeError.badName(name: APIError.printable(name)) }
        try checkRoom(for: name)
        let loaded = try read(name, path: path, step: step)
        try state.withLock { state in
            // Somebody else may have been faster.
            guard !state.models.contains(where: { $0.id == name }) else {
                throw ServeError.nameTaken(name: name)
            }
            guard state.models.count <= settings.adapters else {
                throw ServeError.tooManyAdapters(limit: settings.adapters)
            }
            state.models.append(loaded)
        }
        return loaded
    }

    /// Puts a newer checkpoint of a run in the place of the one that has its name.
    ///
    /// - Throws: what `LoadedAdapter` throws; the older one stays.
    func replace(_ name: String, path: String, step: Int) throws {
        let loaded = try read(name, path: path, step: step)
        state.withLock { state in
            if let place = state.models.firstIndex(where: { $0.id == name }) {
                state.models[place] = loaded
            } else {
                state.models.append(loaded)
            }
        }
    }

    /// Forgets an adapter. Answers that are under way keep it until they end.
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

    private func checkRoom(for name: String) throws(ServeError) {
        let models = state.withLock { $0.models }
        if models.contains(where: { $0.id == name }) || isFollowed(name) {
            throw .nameTaken(name: name)
        }
        if models.count > settings.adapters { throw .tooManyAdapters(limit: settings.adapters) }
    }

    private func read(_ name: String, path: String, step: Int?) throws -> ServedModel {
        let adapter = try LoadedAdapter.read(path, for: model)
        if !settings.anyBase { try adapter.check(base: digest) }
        let projections = GenerationProjections(weights, adapter: adapter.parameters)
        guard projections.rank <= settings.rank else {
            throw ServeError.rankTooLarge(
                adapter: path, rank: projections.rank, limit: settings.rank)
        }
        return ServedModel(
            id: name, root: shown(path), parent: base.id, created: Self.now, step: step,
            projections: projections)
    }

    /// A path as clients see it: what lies around it is none of their business.
    private func shown(_ path: String) -> String {
        if let root, path.hasPrefix(root.path + "/") {
            return String(path.dropFirst(root.path.count + 1))
        }
        return FilePath.name(of: path)
    }

    // MARK: Checkpoints of runs

    private func touch(_ model: ServedModel) {
        state.withLock { state in
            guard let place = state.checkpoints.firstIndex(where: { $0.id == model.id }) else {
                return
            }
            state.checkpoints.append(state.checkpoints.remove(at: place))
        }
    }

    /// A checkpoint of a run below the root, or of the run that is followed; nil: there is neither.
    private func checkpoint(
        _ name: CheckpointName, _ whole: String
    ) throws(APIError) -> ServedModel? {
        do {
            let directory: String
            var run = name.run
            let isFollowed = followedRun.withLock { $0?.name == run }
            if isFollowed, let followed = followedRun.withLock({ $0 }) {
                directory = followed.directory
            } else if let root {
                directory = try root.resolve(name.run)
                // One name for one run, however it is spelled.
                run = root.relative(directory)
                guard Self.isName(run) else { return nil }
            } else {
                return nil
            }
            var (step, path) = try name.find(in: directory)
            if !isFollowed, let root { path = try root.resolveAdapter(path) }
            let id = "\(run)@\(step)"
            if let known = list.first(where: { $0.id == id }) {
                touch(known)
                return known
            }
            let loaded = try read(id, path: path, step: step)
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
            return loaded
        } catch {
            switch error as? ServeError {
            case .outsideRoot?: return nil
            case .noCheckpoint?:
                throw .unknownModel(whole, known: list.map(\.id))
            default:
                let problem = APIError(error, param: "model")
                throw root.map { problem.hiding($0) } ?? problem
            }
        }
    }

    /// The run whose checkpoints may be named without a root.
    private let followedRun = Mutex<(name: String, directory: String)?>(nil)

    /// Lets requests name the checkpoints of a run; its name is nobody else's from then on.
    ///
    /// - Throws: `ServeError.nameTaken`.
    func follow(_ name: String, in directory: String) throws(ServeError) {
        guard !list.contains(where: { $0.id == name }) else { throw .nameTaken(name: name) }
        followedRun.withLock { $0 = (name, directory) }
    }

    private func isFollowed(_ name: String) -> Bool {
        followedRun.withLock { $0?.name == name }
    }

    /// Whether requests can name a model so. `@` is for checkpoints.
    static func isName(_ name: String) -> Bool {
        (1...Limits.nameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: Array("._-:/+".utf8).contains(byte)
                }
            }
    }
}
