/// Why there is no room for an adapter.
package enum AdapterMemoryError: Error, Equatable {
    /// It takes more than all adapters may.
    case tooLarge(bytes: Int, limit: Int)
    /// Adapters that are loaded, or held by requests, leave no room for another one now.
    case full(bytes: Int, held: Int, limit: Int)
    /// Its files became others while they were read.
    case changed(path: String)
    /// The rank is above what there is room for.
    case rankTooLarge(adapter: String, rank: Int, limit: Int)
}
