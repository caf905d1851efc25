/// Who is asked, in which order, and when another one is.
package struct RoutingPolicy: Sendable {
    /// The one that the person has chosen; it is asked first.
    package var chosen: String?
    /// Whether another provider is asked when one has failed. If not, the chosen one, or else the first, is the
    /// only one.
    package var fallsBack = true
    /// For how many turns a provider that has failed is asked last.
    package var turnsOfRest = 3
    /// After how many refusals of the same question, by a check on it or on its answer, another provider is asked;
    /// nil: a refusal is an answer, and nobody is asked until somebody says yes.
    package var refusalsBeforeFallback: Int?

    package init() {}

    /// A provider's last failure.
    struct Failure {
        var turn: Int
        var reason: String
    }

    /// Who is asked in this order, and who is not, or only after the others.
    struct Order {
        var asked: [(provider: any Provider, why: String)] = []
        var passedOver: [Route.Attempt] = []
    }

    /// - Parameters:
    ///   - providers: in the order of preference.
    ///   - isPrivate: whether nothing may leave this machine.
    ///   - turn: the number of this turn.
    ///   - failures: the last one of each provider, by its name.
    /// - Returns: all providers that may be asked, each with a reason.
    func order(
        of providers: [any Provider], isPrivate: Bool, turn: Int, failures: [String: Failure]
    ) async -> Order {
        // A simulation that nobody has asked for is no part of the story.
        var candidates = providers.filter { !$0.isSimulation || $0.name == chosen }
        if let place = candidates.firstIndex(where: { $0.name == chosen }) {
            candidates.insert(candidates.remove(at: place), at: 0)
        }
        if !fallsBack { candidates = Array(candidates.prefix(1)) }
        var order = Order()
        var resting: [(provider: any Provider, why: String)] = []
        for (place, provider) in candidates.enumerated() {
            if let reason = await reasonAgainst(provider, isPrivate: isPrivate) {
                order.passedOver.append(Route.Attempt(provider: provider.name, failure: reason))
            } else if provider.name == chosen {
                order.asked.append((provider, "you chose it"))
            } else if fallsBack, let failure = failures[provider.name],
                turn - failure.turn <= turnsOfRest
            {
                resting.append((provider, "nobody else has answered"))
                order.passedOver.append(
                    Route.Attempt(
                        provider: provider.name,
                        failure: "it comes last, because it failed lately: \(failure.reason)"))
            } else {
                order.asked.append(
                    (
                        provider,
                        place == 0
                            ? "it is preferred" : "it is number \(place + 1) in preference"
                    ))
            }
        }
        if order.asked.isEmpty {
            // There is nobody else: so it does not come last.
            let names = resting.map(\.provider.name)
            order.passedOver.removeAll { names.contains($0.provider) }
            resting = resting.map { ($0.provider, "it failed lately, and there is nobody else") }
        }
        order.asked += resting
        return order
    }

    private func reasonAgainst(_ provider: any Provider, isPrivate: Bool) async -> String? {
        if isPrivate && !provider.isLocal { return "\(ProviderFailure.isPrivate)" }
        return await provider.hindrance()
    }
}
