import Basics
import Coordination
import Training

/// The adapter's parameters as a worker has them: one version, and updates that nobody needed yet.
///
/// Updates arrive on the network's thread, which must not compute; the compute thread that needs a
/// version first unpacks it.
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
        var isClosed = false
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
            let version = state.pending.last?.version ?? state.version
            return version == 0 ? (0, 0) : (state.term, version)
        }
    }

    /// Takes an update as it came.
    ///
    /// What does not lead anywhere is dropped: a difference from another version than the newest.
    ///
    /// - Returns: false when the whole must be asked for.
    func receive(_ update: ParameterUpdate, term: UInt32) -> Bool {
        state.change { state in
            if state.term != term {
                state = State(term: term, isClosed: state.isClosed)
            }
            if update.base == 0 {
                state.pending = [update]
                return true
            }
            let newest = state.pending.last?.version ?? state.version
            guard update.base == newest, newest > 0 else { return false }
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
        state.wait { [count] state in
            if state.isClosed || isAbandoned() { return .abandoned }
            guard state.term == term else { return nil }
            while state.version < version, let update = state.pending.first {
                state.pending.removeFirst()
                guard Self.apply(update, to: &state, count: count) else {
                    state.version = 0
                    state.pending = []
                    return .unusable(version: version)
                }
            }
            if state.version == version { return .parameters(state.values) }
            // A later version is here already: its coordinator does not need this work any more.
            return state.version > version ? .abandoned : nil
        }
    }

    private static func apply(
        _ update: ParameterUpdate, to state: inout State, count: Int
    ) -> Bool {
        do {
            if update.base == 0 {
                state.values = try ParameterCodec.parameters(of: update.payload, count: count)
            } else {
                try ParameterCodec.apply(update.payload, to: &state.values)
            }
        } catch {
            // Whatever is wrong with it, the answer is the same: ask for the whole.
            return false
        }
        state.version = update.version
        return GradientCodec.digest(of: state.values).bytes == update.digest
    }
}
