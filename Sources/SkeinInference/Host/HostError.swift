/// Why a model is not hosted as it was asked for. Each host says it in its own words: a server names
/// flags, sessions name properties.
package enum HostError: Error, Equatable {
    /// The context is longer than the model's.
    case contextTooLong(tokens: Int, limit: Int)
    /// Keys and values may take less than one answer needs.
    case cacheTooSmall(bytes: Int, needed: Int)
    /// What would be held does not fit into this machine's memory.
    case memory(needed: Int, available: Int)
}
