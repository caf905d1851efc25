import SkeinBasics
import SkeinCoordination
import SkeinTraining

// What the run's thread asks for, by way of `CoordinatorDesk`.
extension CoordinatorShell {
    /// Begins to lease the work of a round.
    func open(_ round: LeasedRound) {
        self.round = round
        note(
            .opened,
            [
                ("round", .integer(Int(clamping: round.number))),
                ("step", .integer(round.step)), ("label", .string("\(round.label)")),
                ("pieces", .integer(round.rows.count)),
            ])
        if publication?.version != round.publication.version { publication = round.publication }
        // Parameters go to those who get work. A worker without any would only pile them up.
        handle(.opened(round.forState))
        bringWantedParameters()
    }

    /// Lets go of everything of a round.
    func close(_ number: UInt64) {
        note(.closed, [("round", .integer(Int(clamping: number)))])
        round = nil
        handle(.closed(round: number))
        for peer in peers.values {
            peer.waitingGrants = []
            peer.attempts = [:]
            // Without work it needs none; who has nothing at all is still to get the first.
            if peer.parameterVersion > 0 { peer.wantsParameters = false }
        }
        parked = [:]
        handle(.phase(.betweenSteps("applies the update and writes it down")))
    }

    /// Takes the whole of a version that a worker needs.
    func offer(_ snapshot: EncodedMessage, version: UInt64) {
        guard let current = publication, current.version == version else { return }
        publication = current.with(snapshot: snapshot)
        bringWantedParameters()
    }

    /// Takes the run's thread's word of how far the run is.
    func note(_ change: (inout RunSnapshot.Progress) -> Void) {
        change(&progress)
    }

    /// Takes what the run's thread found in a result. Its peer may have gone meanwhile.
    func checked(_ candidate: Candidate, _ outcome: CoordinatorState.CheckOutcome) {
        let key = candidate.result.key
        switch outcome {
        case .accepted:
            note(
                .accepted, worker: candidate.worker, of: key,
                [("attempt", .integer(Int(candidate.result.attempt)))])
        case .refused(let detail), .notFinite(let detail):
            note(.refused, worker: candidate.worker, of: key, [("how", .string(detail))])
        }
        judged = candidate
        handle(.checked(candidate.peer, key, outcome))
        judged = nil
    }

    private func bringWantedParameters() {
        for peer in inOrder(peers.values.filter(\.wantsParameters)) { bringParameters(to: peer) }
    }
}
