import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// The adapter's parameters as a worker has them: one version, and updates that nobody needed yet.
///
/// Updates arrive on the network's thread, which must not compute; the compute thread that needs a
/// version first unpacks it. Until then they are held as they came: a whole in place of all before
/// it, and differences for as long as they are together no longer than a whole.
final class ParameterStore: Sendable {
    /// How asking for a version ended.
    enum Answer: Sendable {
        case parameters([Float])
        /// The update that should lead there cannot be used; the whole is to be asked for.
        case unusable(version: UInt64)
        /// The work is not wanted any more.
        case abandoned
    }

    private struct State: Sendable {
        var term: UInt32 = 0
        var version: UInt64 = 0
        var values: [Float] = []
        /// In the order of arrival; a snapshot drops those before it.
        var pending: [ParameterUpdate] = []
        /// What a thread unpacks at the moment.
        var unpacking: ParameterUpdate?
        /// Counts what makes an unpacking in vain: terms, and snapshots, which take all back.
        var epoch = 0
        var isClosed = false

        /// The version at which the next difference must begin.
        var newest: UInt64 { pending.last?.version ?? unpacking?.version ?? version }

        /// Bytes of differences that wait.
        var pendingDifferences: Int {
            pending.reduce(0) { $0 + ($1.base == 0 ? 0 : $1.payload.count) }
        }

        /// Forgets everything that was had or sent.
        mutating func reset() {
            (version, values, pending, unpacking) = (0, [], [], nil)
            epoch += 1
        }
    }

    /// What a thread is to do next.
    private enum Turn {
        case answer(Answer)
        case unpack(ParameterUpdate, [Float], epoch: Int)
    }

    let count: Int
    private let state = Condition(State())

    /// - Parameter count: parameters of the adapter.
    init(count: Int) {
        self.count = count
    }

    /// The term and version that this store has or has been sent; 0 and 0 for none.
    var newest: (term: UInt32, version: UInt64) {
        state.change(waking: false) { state in
            state.newest == 0 ? (0, 0) : (state.term, state.newest)
        }
    }

    /// Bytes that are held: parameters, and what is not unpacked yet. At most three wholes, one of
    /// them unpacked, and for a moment the one that comes of it.
    var heldBytes: Int {
        state.change(waking: false) { state in
            4 * state.values.count + (state.unpacking?.payload.count ?? 0)
                + state.pending.reduce(0) { $0 + $1.payload.count }
        }
    }

    /// Takes an update as it came.
    ///
    /// What does not lead anywhere is dropped: a difference from another version than the newest.
    /// So are differences that nobody unpacks when a whole would be shorter.
    ///
    /// - Returns: false when the whole must be asked for.
    func receive(_ update: ParameterUpdate, term: UInt32) -> Bool {
        state.change { state in
            if state.term != term {
                state.reset()
                state.term = term
            }
            if update.base == 0 {
                // Nobody asks for an earlier version any more; and nobody sends again what was
                // good, so of the same one this takes back what is had.
                state.reset()
                state.pending = [update]
                return true
            }
            guard update.base == state.newest, state.newest > 0 else { return false }
            let bytes = state.pendingDifferences + update.payload.count
            guard bytes <= ParameterCodec.mostPackedBytes(count: count) else {
                state.pending = []
                return false
            }
            state.pending.append(update)
            return true
        }
    }

    /// Lets everybody look again whether its work is still wanted.
    func wake() {
        state.change { _ in }
    }

    /// Ends all waiting.
    func close() {
        state.change { $0.isClosed = true }
    }

    /// Blocks until the parameters of `version` are there; `isAbandoned` is asked at every wake-up.
    func parameters(
        version: UInt64, term: UInt32, isAbandoned: () -> Bool
    ) -> Answer {
        while true {
            let turn = state.wait { state in
                Self.turn(&state, version: version, term: term, isAbandoned: isAbandoned)
            }
            if let answer = take(turn, version: version) { return answer }
        }
    }

    /// As `parameters`; nil where that would block. For a simulation, whose one thread must not.
    func parametersNow(
        version: UInt64, term: UInt32, isAbandoned: () -> Bool
    ) -> Answer? {
        while true {
            let turn = state.change(waking: false) { state in
                Self.turn(&state, version: version, term: term, isAbandoned: isAbandoned)
            }
            guard let turn else { return nil }
            if let answer = take(turn, version: version) { return answer }
        }
    }

    /// - Returns: the answer; nil: it has come one version further.
    private func take(_ turn: Turn, version: UInt64) -> Answer? {
        switch turn {
        case .answer(let answer): return answer
        case .unpack(let update, let base, let epoch):
            // Without the lock: the network's thread must not wait for milliseconds of work.
            let values = unpacked(update, base)
            let isUsable = state.change { state in
                guard state.epoch == epoch else { return true }
                state.unpacking = nil
                guard let values else {
                    state.version = 0
                    // Differences from what nobody has; a snapshot stands for itself.
                    if state.pending.first?.base != 0 { state.pending = [] }
                    return !state.pending.isEmpty
                }
                (state.version, state.values) = (update.version, values)
                return true
            }
            return isUsable ? nil : .unusable(version: version)
        }
    }

    /// nil: there is nothing to do but to wait.
    private static func turn(
        _ state: inout State, version: UInt64, term: UInt32, isAbandoned: () -> Bool
    ) -> Turn? {
        if state.isClosed || isAbandoned() { return .answer(.abandoned) }
        guard state.term == term, state.unpacking == nil else { return nil }
        if state.version < version, !state.pending.isEmpty {
            let update = state.pending.removeFirst()
            state.unpacking = update
            defer { state.values = [] }
            return .unpack(update, state.values, epoch: state.epoch)
        }
        if state.version == version { return .answer(.parameters(state.values)) }
        // A later version is here already: its coordinator does not need this work any more.
        return state.version > version ? .answer(.abandoned) : nil
    }

    /// The parameters that the update leads to; nil: it cannot be used.
    private func unpacked(_ update: ParameterUpdate, _ base: [Float]) -> [Float]? {
        var values = base
        do {
            if update.base == 0 {
                values = try ParameterCodec.parameters(of: update.payload, count: count)
            } else {
                try ParameterCodec.apply(update.payload, to: &values)
            }
        } catch {
            // Whatever is wrong with it, the answer is the same: ask for the whole.
            return nil
        }
        return GradientCodec.digest(of: values).bytes == update.digest ? values : nil
    }
}
