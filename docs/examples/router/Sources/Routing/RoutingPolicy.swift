/// Who is asked, in which order, and when another one is.
package struct RoutingPolicy: Sendable {
    /// The one that the person has chosen; it is asked first.
    package var chosen: String?
    /// Whether another provider is asked when one has failed.
    package var fallsBack = true
    /// For how many turns a provider that has failed is asked last.
    package var turnsOfRest = 3
    /// After how many refusals of a question, by a check on it or on its answer, another provider is asked; nil: a
    /// refusal is an answer, and nobody is asked until somebody says yes.
    package var refusalsBeforeFallback: Int?

    package init() {}

    /// A provider's last failure.
    struct Failure {
        var turn: Int
        var reason: String
    }

    /// Who is asked in this order, and who is not.
    struct Order {
        var asked: [(provider: any Provider, why: String)] = []
        var passedOver: [Route.Attempt] = []
    }

    /// - Parameters:
    ///   - providers: in the order of preference.
    ///   - isPrivate: whether nothing may leave this machine.
    ///   - turn: the number of this turn.
    ///   - failures: the last one of each provider, by its name.
    /// - Returns: all providers but a simulation that was not chosen, each with a reason.
    func order(
        of providers: [any Provider], isPrivate: Bool, turn: Int, failures: [String: Failure]
    ) async -> Order {
        var order = Order()
        var resting: [(provider: any Provider, why: String)] = []
        for provider in providers where provider.name == chosen || fallsBack || chosen == nil {
            let isChosen = provider.name == chosen
            if let reason = await reasonAgainst(provider, isChosen: isChosen, isPrivate: isPrivate)
            {
                // A simulation that nobody has asked for is no part of the story.
                if isChosen || !provider.isSimulation {
                    order.passedOver.append(Route.Attempt(provider: provider.name, failure: reason))
                }
            } else if isChosen {
                order.asked.insert((provider, "you chose it"), at: 0)
            } else if let failure = failures[provider.name], turn - failure.turn <= turnsOfRest {
                resting.append((provider, "it failed lately: \(failure.reason)"))
            } else {
                let place = providers.prefix { $0.name != provider.name }.filter {
                    !$0.isSimulation
                }
                order.asked.append(
                    (
                        provider,
                        place.isEmpty
                            ? "it is preferred" : "it is number \(place.count + 1) in preference"
                    ))
            }
        }
        order.asked += resting
        return order
    }

    private func reasonAgainst(
        _ provider: any Provider, isChosen: Bool, isPrivate: Bool
    ) async -> String? {
        if provider.isSimulation && !isChosen { return "a simulation has to be chosen" }
        if isPrivate && !provider.isLocal {
            return "the conversation is private, and this is another machine"
        }
        return await provider.hindrance()
    }
}
