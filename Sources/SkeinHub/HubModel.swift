import Foundation

/// Turns what a person gave as a model into a path.
package struct HubModel: Sendable {
    private let environment: [String: String]

    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// A reference, if `text` is one and no file or folder has this path.
    package static func reference(_ text: String) -> HubReference? {
        // A link that leads nowhere is a path, too.
        var status = stat()
        return lstat(text, &status) == 0 ? nil : HubReference(text)
    }

    /// The path of a model that must be in the cache.
    ///
    /// - Parameter reference: The model.
    /// - Returns: A folder, or the named file.
    /// - Throws: `HubError.notInCache`, `.badEndpoint`.
    package func cached(_ reference: HubReference) throws -> String {
        let settings = try HubSettings(environment: environment)
        let cache = HubCache(directory: settings.cache, reference: reference)
        guard let path = cache.find() else {
            throw HubError.notInCache(reference: reference.text, cache: settings.cache)
        }
        return path
    }

    /// The path of a model that may have to be downloaded.
    ///
    /// - Parameters:
    ///   - reference: The model.
    ///   - asksServer: Whether the Hub is asked for a newer commit of the revision, even though the
    ///     model is in the cache.
    ///   - isCancelled: Asked five times a second.
    ///   - warn: Gets what the user should know, though it goes on.
    ///   - progress: Gets `FetchMessage.progress` and `.waiting`.
    /// - Returns: A folder, or the named file.
    /// - Throws: `HubError`.
    package func path(
        of reference: HubReference, asksServer: Bool, isCancelled: () -> Bool = { false },
        warn: (String) -> Void = { _ in }, progress: (FetchMessage) -> Void
    ) throws -> String {
        let settings = try HubSettings(environment: environment)
        let cache = HubCache(directory: settings.cache, reference: reference)
        if !asksServer, let path = cache.findWhole() { return path }
        if settings.isOffline {
            if let path = cache.find() { return path }
            throw HubError.offline(reference: reference.text, cache: settings.cache)
        }
        var wanted = reference
        // What another tool has begun is completed, not updated.
        if !asksServer, let commit = cache.commit() { wanted.revision = commit }
        do {
            let client = try FetchClient(environment: environment)
            return cache.model(
                try client.fetch(wanted, isCancelled: isCancelled, progress: progress))
        } catch let error as HubError {
            guard !asksServer, error.isUnreachable, let path = cache.find() else { throw error }
            warn(
                "the Hub cannot be asked whether the cache has all files of \(reference.text); "
                    + "going on with those that it has (`skein pull` completes them)")
            return path
        }
    }
}
