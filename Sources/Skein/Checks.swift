import SkeinBasics
import SkeinCoordination
import SkeinNodes
import SkeinTraining

// What the command line's options refuse, for values that are set in code.

extension Machine {
    /// - Throws: `SkeinError` for a number of threads that is none.
    func check() throws {
        if let threads, !(1...1024).contains(threads) {
            throw SkeinError(
                code: .usage, what: "a machine of \(threads) threads", remedy: "use 1 to 1024")
        }
    }
}

extension Cluster {
    /// - Throws: `SkeinError` for a token, a patience or a number that no cluster can work with.
    func check() throws {
        try Self.check(token: token)
        try Self.check(patience: patience)
        guard (0...1024).contains(localThreads) else {
            throw SkeinError(
                code: .usage, what: "a cluster with \(localThreads) local threads",
                remedy: "use 0 to 1024")
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
                code: .usage, what: "a patience of \(patience)",
                remedy: "use more than \(lost), after which a silent peer counts as lost, and at "
                    + "most 1000000000 s")
        }
    }
}

extension WorkerOptions {
    /// - Throws: `SkeinError` for what `skein worker` refuses as well; `NodeError` for an address that
    ///   is none.
    func check() throws {
        try Cluster.check(token: token)
        try Cluster.check(patience: patience)
        let address = try NetworkAddress(parsing: coordinator)
        if token == nil, !(try address.resolved(for: .dialling).allSatisfy(\.isLoopback)) {
            throw SkeinError(
                code: .usage, what: "a coordinator on another machine, and no token",
                place: coordinator, remedy: "give coordinator and workers the same token")
        }
        if let name, !WorkerName.isValid(name) {
            throw SkeinError(
                code: .usage, what: "a worker of this name is not possible",
                place: String(name.prefix(80)),
                remedy: "use 1 to 64 letters, digits, dots, dashes and underscores")
        }
    }
}

extension Adapter {
    /// - Throws: `SkeinError` when the folder holds another adapter now than when it was opened.
    func checkUnchanged(_ job: TrainingJob) throws {
        guard job.runFile.initAdapterDigest != sha256 else { return }
        throw SkeinError(
            code: .badData, what: "the adapter has changed since it was opened", place: path,
            remedy: "open it again, once nobody writes it any more")
    }
}
