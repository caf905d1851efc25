/// What a folder of the Hub is wanted as. A repository may be both.
package enum HubKind: String, Sendable, Equatable, Codable, CaseIterable {
    case model
    /// An adapter of PEFT or mlx-lm.
    case adapter
}
