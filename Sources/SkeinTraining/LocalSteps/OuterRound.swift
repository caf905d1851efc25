import SkeinBasics
import SkeinModels
import SkeinTensors
import Synchronization

/// A logical worker's state, named by its hash; the state itself may be elsewhere.
package struct NamedState: Sendable {
    package let digest: SHA256.Digest
    package let state: LocalState?

    package init(digest: SHA256.Digest, state: LocalState?) {
        self.digest = digest
        self.state = state
    }
}

/// A round of a run with local steps: what is computed, and from what.
package struct OuterRound: Sendable {
    /// From 1; the run's step.
    package let number: Int
    /// One for each logical worker that takes part, in their order.
    package let work: [LocalWork]
    package let outer: OuterState
    /// The names of the states from which they start; nil before the first round.
    package let starts: [SHA256.Digest?]
    /// For each piece of work, whether its result must bring the state along: a checkpoint follows
    /// before the logical worker's next round.
    package let wantsState: [Bool]
    /// From which a state that is lost is rebuilt.
    package let history: LocalHistory
}

/// What happened since the last round whose states are saved: enough to rebuild any state.
package struct LocalHistory: Sendable {
    /// That round; 0: the run's beginning.
    package let round: Int
    /// After that round.
    package let outer: OuterState
    /// After that round, of every logical worker; empty at the beginning.
    package let states: [LocalState]
    /// Packed averages of the rounds since.
    package var averages: [[UInt8]] = []
    /// What a logical worker does in a round; nil if it sits the round out.
    package let work: @Sendable (_ round: Int, _ worker: Int) -> LocalWork?

    /// What rebuilds the state from which a logical worker starts the round after the last average.
    package func replay(of worker: Int) -> LocalReplay {
        LocalReplay(
            state: states.isEmpty ? nil : states[worker], outer: outer,
            rounds: averages.enumerated().map { place, average in
                LocalReplay.Round(work: work(round + 1 + place, worker), average: average)
            })
    }
}

/// The rounds of a logical worker since its state was saved.
package struct LocalReplay: Sendable, Equatable {
    package struct Round: Sendable, Equatable {
        /// nil: it sat the round out.
        package let work: LocalWork?
        /// Packed.
        package let average: [UInt8]

        package init(work: LocalWork?, average: [UInt8]) {
            self.work = work
            self.average = average
        }
    }

    /// nil: the run's beginning.
    package let state: LocalState?
    package let outer: OuterState
    package let rounds: [Round]

    package init(state: LocalState?, outer: OuterState, rounds: [Round]) {
        self.state = state
        self.outer = outer
        self.rounds = rounds
    }

    /// Passes over micro-batches.
    package var parts: Int { rounds.reduce(0) { $0 + ($1.work?.parts ?? 0) } }
}

extension LocalWork {
    /// Passes over micro-batches.
    package var parts: Int { steps.reduce(0) { $0 + $1.count } }
}

extension LogicalWorkers {
    /// Computes the rounds of a replay again.
    ///
    /// - Returns: the state after them; nil if the work was abandoned.
    /// - Throws: `CodecError` for an average that cannot be unpacked.
    package func rebuild(
        _ replay: LocalReplay, workspace: DecoderWorkspace, place: WorkSharing.Place? = nil,
        progress: PassProgress? = nil
    ) throws -> LocalState? {
        var outer = replay.outer
        var state = replay.state ?? LocalState(count: outer.count)
        for round in replay.rounds {
            if let work = round.work {
                let outcome = perform(
                    work, parameters: outer.parameters, state: state, workspace: workspace,
                    place: place, progress: progress)
                guard let outcome else { return nil }
                state = outcome.state
            }
            settings.outer.apply(
                try settings.codec.unpack(round.average, count: outer.count), to: &outer)
        }
        return state
    }
}

/// States of logical workers, by name: in the process that computed them.
package final class LocalStates: Sendable {
    private struct Entry: Sendable {
        let digest: SHA256.Digest
        let state: LocalState
        let worker: Int
        /// After which it is.
        let round: Int
    }

    private let capacity: Int
    /// The latest used last.
    private let entries = Mutex<[Entry]>([])

    /// - Parameter workers: logical workers of the run. Each has a state before and one after the
    ///   round that is computed; two more are for a round that is computed again.
    package init(workers: Int) {
        capacity = 2 * workers + 2
    }

    /// The state of this name, if it is here.
    package func state(_ digest: SHA256.Digest) -> LocalState? {
        entries.withLock { entries in
            guard let place = entries.firstIndex(where: { $0.digest == digest }) else { return nil }
            let entry = entries.remove(at: place)
            entries.append(entry)
            return entry.state
        }
    }

    /// Keeps a state, and of the same logical worker the one before, from which its round may be
    /// computed again; if there are too many, drops that which was used least recently.
    package func keep(
        _ state: LocalState, _ digest: SHA256.Digest, of worker: Int, afterRound round: Int
    ) {
        entries.withLock { entries in
            entries.removeAll { $0.digest == digest }
            let older = entries.filter { $0.worker == worker }.map(\.round).sorted().dropLast()
            entries.removeAll { $0.worker == worker && older.contains($0.round) }
            entries.append(Entry(digest: digest, state: state, worker: worker, round: round))
            if entries.count > capacity { entries.removeFirst() }
        }
    }

    /// Drops the states from which no worker starts any more, since `round` is being computed.
    /// Those of logical workers that sat the round before it out are one round older.
    package func dropUnused(in round: Int) {
        entries.withLock { $0.removeAll { $0.round < round - 2 } }
    }

    package var count: Int { entries.withLock { $0.count } }
}
