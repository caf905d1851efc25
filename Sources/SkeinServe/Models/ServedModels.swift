import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import Synchronization

/// The models that requests can name: one base, and adapters on the one copy of it. Those that have a name
/// of their own stay until they are unloaded; checkpoints that requests named (`RUN@50`) make room for
/// others. Any thread may ask; loading an adapter takes the time of reading its file.
package final class ServedModels: Sendable {
    /// How many adapters there may be, and from where.
    struct Settings: Sendable {
        /// Adapters at once, those given at the start included.
        var adapters = 16
        var root: AdapterRoot?
        /// Hears of each adapter that is read for a request, and of the first of a run that is followed.
        var remark: @Sendable (LoadedAdapter) -> Void = { _ in }
    }

    let base: ServedModel
    private let adapters: HostedAdapters
    private let settings: Settings
    /// In the order in which they came; the base is first.
    private let named = Mutex([ServedModel]())

    /// - Parameters:
    ///   - adapters: on the base.
    ///   - name: what requests call the base.
    ///   - settings: limits.
    /// - Throws: `ServeError.badName`.
    init(_ adapters: HostedAdapters, name: String, settings: Settings) throws(ServeError) {
        guard Self.isName(name) else {
            throw .badName(name: APIError.printable(name), from: .base)
        }
        self.adapters = adapters
        self.settings = settings
        base = ServedModel(
            id: name, root: FilePath.name(of: adapters.model.path), parent: nil,
            created: adapters.date(), step: nil, projections: adapters.plain)
        named.withLock { $0 = [base] }
    }

    /// All that can be named without reading a file.
    var list: [ServedModel] { named.withLock { $0 } + adapters.list.map(served) }

    /// The model of a request; nil means the base.
    ///
    /// - Throws: an `APIError` that says which there are.
    func model(named name: String?) throws(APIError) -> ServedModel {
        guard let name, name != base.id else { return base }
        if let found = named.withLock({ $0.first { $0.id == name } }) { return found }
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
            adapters.forget { checkpoint in
                guard let known = CheckpointName(checkpoint.id) else { return false }
                return known.run == run && (gone.step == nil || gone.step == known.step)
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
        let (adapter, projections) = try adapters.read(path)
        try add(served(name, adapter.path, projections))
        settings.remark(adapter)
    }

    /// Takes an adapter that was read, checked and named already.
    ///
    /// - Throws: `ServeError.nameTaken`, `.tooManyAdapters`.
    func add(_ name: String, _ adapter: AdmittedAdapter) throws(ServeError) {
        try add(served(name, adapter.adapter.path, adapters.place(adapter)))
    }

    private func add(_ loaded: ServedModel) throws(ServeError) {
        try named.withLock { (named) throws(ServeError) in
            // Another request may have been faster.
            guard !named.contains(where: { $0.id == loaded.id }) else {
                throw .nameTaken(name: loaded.id, from: .request)
            }
            guard named.count <= settings.adapters else {
                throw .tooManyAdapters(limit: settings.adapters)
            }
            named.append(loaded)
        }
    }

    /// Puts a newer checkpoint of a run in the place of the one that has its name.
    ///
    /// - Throws: `AdapterMemoryError`, what `LoadedAdapter` throws; the older one stays.
    func replace(_ name: String, path: String, step: Int) throws {
        let (adapter, projections) = try adapters.read(path)
        let loaded = served(name, adapter.path, projections, step: step)
        let isFirst = named.withLock { named in
            guard let place = named.firstIndex(where: { $0.id == name }) else {
                named.append(loaded)
                return true
            }
            named[place] = loaded
            return false
        }
        // Later ones of the run were trained as the first.
        if isFirst { settings.remark(adapter) }
    }

    /// Forgets an adapter. Answers that wait or are under way keep it, and its memory, until they end.
    ///
    /// - Returns: false if there is none of this name, or it is the base.
    func unload(_ name: String) -> Bool {
        named.withLock { named in
            guard name != base.id, !isFollowed(name),
                let place = named.firstIndex(where: { $0.id == name })
            else { return false }
            named.remove(at: place)
            return true
        }
    }

    /// The directory in which clients may name adapters; nil: they may not.
    var root: AdapterRoot? { settings.root }

    /// The memory of all adapters.
    var memory: AdapterMemory { adapters.memory }

    private func checkPlace(for name: String) throws(ServeError) {
        let models = named.withLock { $0 }
        if models.contains(where: { $0.id == name }) || isFollowed(name) {
            throw .nameTaken(name: name, from: .request)
        }
        if models.count > settings.adapters { throw .tooManyAdapters(limit: settings.adapters) }
    }

    private func served(
        _ name: String, _ path: String, _ projections: GenerationProjections, step: Int? = nil
    ) -> ServedModel {
        ServedModel(
            id: name, root: shown(path), parent: base.id, created: adapters.date(), step: step,
            projections: projections)
    }

    private func served(_ checkpoint: HostedAdapter) -> ServedModel {
        ServedModel(
            id: checkpoint.id, root: shown(checkpoint.path), parent: base.id,
            created: checkpoint.date, step: CheckpointName(checkpoint.id)?.step,
            projections: checkpoint.projections)
    }

    /// A path as clients see it: what lies around it is none of their business.
    private func shown(_ path: String) -> String {
        if let root, path.hasPrefix(root.path + "/") {
            return String(path.dropFirst(root.path.count + 1))
        }
        return FilePath.name(of: path)
    }

    // MARK: Checkpoints of runs

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
            // The run may have been trained anew since. Those that were not used for longest leave.
            let found = try adapters.adapter(
                "\(run)@\(step)", at: path,
                keeping: { settings.adapters - named.withLock { $0.count } },
                whenRead: settings.remark)
            return served(found)
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

    /// Lets requests name the checkpoints of a run; no other model has its name from then on.
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
