import Foundation

/// Turns what a person gave as a model into a path.
package struct HubModel: Sendable {
    private let environment: [String: String]

    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// A reference, if `text` is one and no file or folder has this path.
    package static func reference(_ text: String) -> HubReference? {
        access(text, F_OK) == 0 ? nil : HubReference(text)
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
    ///   - progress: Gets the bytes that are here, and those that there will be.
    /// - Returns: A folder, or the named file.
    /// - Throws: `HubError`.
    package func path(
        of reference: HubReference, asksServer: Bool, isCancelled: () -> Bool = { false },
        progress: (_ done: Int, _ total: Int) -> Void
    ) throws -> String {
        let settings = try HubSettings(environment: environment)
        let cache = HubCache(directory: settings.cache, reference: reference)
        if !asksServer || settings.isOffline, let path = cache.find() { return path }
        if settings.isOffline {
            throw HubError.offline(reference: reference.text, cache: settings.cache)
        }
        let client = try FetchClient(environment: environment)
        let commit = try client.fetch(reference, isCancelled: isCancelled, progress: progress)
        return cache.model(commit)
    }
}
