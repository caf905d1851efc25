/// Whose request it is, for those who take turns.
package enum RequestOwner: Hashable, Sendable {
    /// Without keys all requests are alike.
    case everybody
    case key(String)
}
