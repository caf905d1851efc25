import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinModels
import SkeinNetwork
import SkeinText
import SkeinTraining

// Checks values that are set in code, as the command line checks its options.

extension Machine {
    /// - Throws: `TrainingError.badOption`.
    func check() throws {
        var configuration = TrainingConfiguration()
        configuration.machine = values
        try configuration.validate()
    }
}

extension Cluster {
    /// - Throws: `SkeinError` for a token, a patience or a number of threads that is not allowed.
    func check() throws {
        try Self.check(token: token)
        try Self.check(patience: patience)
        let range = CoordinatorOptions.localWorkerRange
        guard range.contains(localThreads) else {
            throw SkeinError(
                code: .usage, what: "a cluster cannot have \(localThreads) local threads",
                remedy: "use \(range.lowerBound) to \(range.upperBound)")
        }
    }

    static func check(token: [UInt8]?) throws {
        let allowed = TokenFile.allowedBytes
        guard let token, !allowed.contains(token.count) else { return }
        throw SkeinError(
            code: .usage, what: "the token is \(token.count) bytes long",
            remedy: "use \(allowed.lowerBound) to \(allowed.upperBound) bytes")
    }

    static func check(patience: Duration) throws {
        let lost = CoordinatorSettings().lostAfter
        guard patience > lost, patience <= .seconds(1_000_000_000) else {
            throw SkeinError(
                code: .usage, what: "a patience of \(patience) is not allowed",
                remedy: "use more than \(lost), after which a silent peer counts as lost, and at "
                    + "most 1000000000 s")
        }
    }
}

extension WorkerOptions {
    /// - Throws: `SkeinError` for what `skein worker` refuses, too; `NodeError` for an address that
    ///   cannot be parsed or resolved.
    func check() throws {
        try Cluster.check(token: token)
        try Cluster.check(patience: patience)
        let address = try NetworkAddress(parsing: coordinator)
        if token == nil, !(try address.resolved(for: .dialling).allSatisfy(\.isLoopback)) {
            throw SkeinError(
                code: .usage, what: "a coordinator on another machine needs a token",
                place: coordinator, remedy: "give coordinator and workers the same token")
        }
        if let name, !WorkerName.isValid(name) {
            throw SkeinError(
                code: .usage, what: "this is not a valid name of a worker",
                place: String(name.prefix(80)),
                remedy: "use 1 to 64 letters, digits, dots, dashes and underscores")
        }
    }
}

extension Adapter {
    /// Reads the adapter. Whether it was made for this model's bytes, the run finds out: that takes
    /// a hash of the model.
    ///
    /// - Throws: `AdapterError` if a run of this recipe cannot start from it; `FormatError`,
    ///   `FileError`, `TrainingError`.
    func check(for model: Model, _ recipe: Recipe) throws {
        let configuration = model.directory.configuration
        let options = try recipe.checked()
        try options.checkRecipe()
        let lora = try options.lora(for: configuration)
        try configuration.design.check(lora.targets, layers: lora.layers)
        let shape = AdapterShape(lora, model: configuration)
        _ = try LoadedAdapter.read(path, for: model.directory, matching: ModulePatterns.matching)
            .parameters
            .fitted(to: shape, FusedExport(shape, model: configuration))
    }

    /// - Throws: `SkeinError` if the folder's adapter has changed since it was opened.
    func checkUnchanged(_ job: TrainingJob) throws {
        guard job.runFile.initAdapterDigest != sha256 else { return }
        throw SkeinError(
            code: .badData, what: "the adapter has changed since it was opened", place: path,
            remedy: "open it again when nothing writes to it any more")
    }
}
