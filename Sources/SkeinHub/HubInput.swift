import Foundation
import SkeinBasics

/// Turns what a person gave as a model or an adapter into a path.
package struct HubInput: Sendable {
    private let environment: [String: String]

    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// A reference, if `text` is one and no file or folder has this path.
    ///
    /// - Parameters:
    ///   - text: What was given.
    ///   - kind: What it is wanted as; nil: either. `OUT/adapter` is where a run keeps its adapter: from
    ///     another folder it means an adapter that is missing, and nothing of the Hub. So does the name of
    ///     an adapter in a folder that is here: a run is mistyped more often than a folder is called as
    ///     an organization.
    /// - Returns: nil for a path.
    package static func reference(_ text: String, as kind: HubKind? = nil) -> HubReference? {
        // A link that leads nowhere is a path, too.
        var status = stat()
        guard lstat(text, &status) != 0, FileKind.isNothing(errno),
            let reference = HubReference(text)
        else { return nil }
        guard kind == .adapter else { return reference }
        let folder = text.prefix { $0 != "/" }
        guard reference.name != "adapter" else { return nil }
        // No path is meant where a revision or a file in a repository is named.
        let isPlain = !text.contains("@") && !text.contains(":")
        return isPlain && lstat(String(folder), &status) == 0 ? nil : reference
    }

    /// The path of what must be in the cache.
    ///
    /// - Parameters:
    ///   - reference: The model or adapter.
    ///   - kind: What it is wanted as; nil: either.
    /// - Returns: A folder, or the named file.
    /// - Throws: `HubError.notInCache`, `.badEndpoint`, `.unreadableCache`.
    package func cached(_ reference: HubReference, as kind: HubKind? = nil) throws -> String {
        let settings = try HubSettings(environment: environment)
        let cache = HubCache(directory: settings.cache, reference: reference)
        guard let path = try Self.asking(cache, { try $0.find(as: kind) }) else {
            throw HubError.notInCache(reference: reference.text, cache: settings.cache)
        }
        return path
    }

    /// The path of what may have to be downloaded.
    ///
    /// - Parameters:
    ///   - reference: The model or adapter.
    ///   - kind: What it is wanted as; nil: all that the repository is.
    ///   - asksServer: Whether the Hub is asked for a newer commit of the revision, even though all
    ///     is in the cache.
    ///   - isCancelled: Asked five times a second.
    ///   - warn: Gets what the user should know, though it goes on.
    ///   - progress: Gets `FetchMessage.progress` and `.waiting`.
    /// - Returns: A folder, or the named file.
    /// - Throws: `HubError`; `FileError` when there are no pipes left for the fetcher.
    package func path(
        of reference: HubReference, as kind: HubKind?, asksServer: Bool,
        isCancelled: () -> Bool = { false },
        warn: (String) -> Void = { _ in }, progress: (FetchMessage) -> Void
    ) throws -> String {
        let settings = try HubSettings(environment: environment)
        let cache = HubCache(directory: settings.cache, reference: reference)
        if !asksServer, let path = try Self.asking(cache, { try $0.findWhole(as: kind) }) {
            return path
        }
        if settings.isOffline {
            if let path = try Self.asking(cache, { try $0.find(as: kind) }) { return path }
            throw HubError.offline(reference: reference.text, cache: settings.cache)
        }
        var wanted = reference
        // What another tool has begun is completed, not updated.
        if !asksServer, let commit = try Self.asking(cache, { try $0.commit() }) {
            wanted.revision = commit
        }
        do {
            let client = try FetchClient(environment: environment)
            return cache.path(
                of: try client.fetch(
                    wanted, as: kind, isCancelled: isCancelled, progress: progress))
        } catch {
            // Without a pipe to the fetcher no server can be asked either.
            let isUnreachable = (error as? HubError)?.isUnreachable ?? (error is FileError)
            // An error of the cache would hide why the Hub was not reached.
            guard !asksServer, isUnreachable, let path = try? cache.find(as: kind) else {
                throw error
            }
            let reason = (error as? any Explained).map { ": \($0.explanation.what)" } ?? ""
            warn(
                "the Hub cannot be asked whether the cache has all files of \(reference.text)"
                    + "\(reason); going on with those that it has (`skein pull` completes them)")
            return path
        }
    }

    /// What the cache says; an error of it says what was looked for, and which variable moves it.
    ///
    /// - Throws: `HubError.unreadableCache`, where a call of the system failed; other `FileError`.
    private static func asking(
        _ cache: HubCache, _ question: (HubCache) throws -> String?
    ) throws -> String? {
        do {
            return try question(cache)
        } catch FileError.failed(let operation, let path, let code) {
            throw HubError.unreadableCache(
                reference: cache.reference.text, path: path, operation: operation, code: code)
        }
    }
}
