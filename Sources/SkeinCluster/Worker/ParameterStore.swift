import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// The adapter's parameters as a worker has them: one version, and updates that are not needed yet.
///
/// Updates arrive on the network's thread, which must not compute; the first compute thread that
/// needs a version unpacks it. Until then they are held packed: a snapshot replaces all before it,
/// and differences are held while they are together no longer than a snapshot.
package final class ParameterStore: Sendable {
    /// The outcome of asking for a version.
    package enum Answer: Sendable {
        case parameters([Float])
        /// The update that leads there cannot be used, or led to other parameters than those that
        /// the lease names; ask for the version in full.
        case unusable(version: UInt64)
        /// The work is no longer wanted.
        case abandoned
    }

    private struct State: Sendable {
        /// The start of the coordinator whose versions these are.
        var start: [UInt8] = []
        var version: UInt64 = 0
        var digest: [UInt8] = []
        var values: [Float] = []
        /// In the order of arrival; a snapshot drops those before it.
        var pending: [ParameterUpdate] = []
        /// The update that a thread is unpacking.
        var unpacking: ParameterUpdate?
        /// Raised by what makes an unpacking useless: another coordinator, or a snapshot.
        var epoch = 0
        var isClosed = false

        /// The version that the next difference must start from.
        var newest: UInt64 { pending.last?.version ?? unpacking?.version ?? version }
        var newestDigest: [UInt8] { pending.last?.digest ?? unpacking?.digest ?? digest }

        /// Bytes of waiting differences.
        var pendingDifferences: Int {
            pending.reduce(0) { $0 + ($1.base == 0 ? 0 : $1.payload.count) }
        }

        /// Forgets the values and all updates.
        mutating func reset() {
            (version, digest, values, pending, unpacking) = (0, [], [], [], nil)
            epoch += 1
        }
    }

    /// What a thread does next.
    private enum Turn {
        case answer(Answer)
        case unpack(ParameterUpdate, [Float], epoch: Int)
    }

    let coding: ParameterCoding
    private let state = Condition(State())

    package init(_ coding: ParameterCoding) {
        self.coding = coding
    }

    /// - Parameter count: the adapter's parameters.
    convenience init(count: Int) {
        self.init(.exact(count: count))
    }

    /// The version of a coordinator's parameters that this store has or has been sent, and its SHA-256;
    /// nil: none of this start of the coordinator.
    func newest(of start: [UInt8]) -> (version: UInt64, digest: [UInt8])? {
        state.change(waking: false) { state in
            guard state.start == start, state.newest > 0 else { return nil }
            return (state.newest, state.newestDigest)
        }
    }

    /// Bytes held: parameters, and updates not yet unpacked. At most three snapshots, one of them
    /// unpacked; for a moment there is also the result of an unpacking.
    package var heldBytes: Int {
        state.change(waking: false) { state in
            4 * state.values.count + (state.unpacking?.payload.count ?? 0)
                + state.pending.reduce(0) { $0 + $1.payload.count }
        }
    }

    /// Takes an update as it came.
    ///
    /// A difference from any version but the newest is dropped. So are waiting differences when a
    /// snapshot would be shorter.
    ///
    /// - Returns: false when the version must be asked for in full.
    func receive(_ update: ParameterUpdate, start: [UInt8]) -> Bool {
        state.change { state in
            if state.start != start {
                state.reset()
                state.start = start
            }
            if update.base == 0 {
                // Earlier versions are no longer needed. A version that was good is not sent again,
                // so if this is the one that is here, that is replaced, too.
                state.reset()
                state.pending = [update]
                return true
            }
            guard update.base == state.newest, state.newest > 0 else { return false }
            let bytes = state.pendingDifferences + update.payload.count
            guard bytes <= coding.mostPackedBytes else {
                state.pending = []
                return false
            }
            state.pending.append(update)
            return true
        }
    }

    /// Makes all waiting threads check again whether their work is still wanted.
    package func wake() {
        state.change { _ in }
    }

    /// Ends all waiting.
    package func close() {
        state.change { $0.isClosed = true }
    }

    /// Blocks until the parameters of `job`'s lease are there; `isAbandoned` is asked at every wake-up.
    func parameters(of job: LeaseJob, isAbandoned: () -> Bool) -> Answer {
        let version = job.lease.parameterVersion
        while true {
            let turn = state.wait { state in
                Self.turn(&state, job, isAbandoned: isAbandoned)
            }
            if let answer = take(turn, version: version) { return answer }
        }
    }

    /// The same as `parameters`, but nil where that would block. For a simulation, whose one thread
    /// must not.
    package func parametersNow(of job: LeaseJob, isAbandoned: () -> Bool) -> Answer? {
        let version = job.lease.parameterVersion
        while true {
            let turn = state.change(waking: false) { state in
                Self.turn(&state, job, isAbandoned: isAbandoned)
            }
            guard let turn else { return nil }
            if let answer = take(turn, version: version) { return answer }
        }
    }

    /// - Returns: the answer; nil: the store is one version further.
    private func take(_ turn: Turn, version: UInt64) -> Answer? {
        switch turn {
        case .answer(let answer): return answer
        case .unpack(let update, let base, let epoch):
            // Not under the lock: the network's thread must not wait for milliseconds of work.
            let values = unpacked(update, base)
            let isUsable = state.change { state in
                guard state.epoch == epoch else { return true }
                state.unpacking = nil
                guard let values else {
                    (state.version, state.digest) = (0, [])
                    // Differences from a version that is lost are useless; a snapshot needs none.
                    if state.pending.first?.base != 0 { state.pending = [] }
                    return !state.pending.isEmpty
                }
                (state.version, state.digest) = (update.version, update.digest)
                state.values = values
                return true
            }
            return isUsable ? nil : .unusable(version: version)
        }
    }

    /// What to do now; nil: wait.
    private static func turn(
        _ state: inout State, _ job: LeaseJob, isAbandoned: () -> Bool
    ) -> Turn? {
        let version = job.lease.parameterVersion
        if state.isClosed || isAbandoned() { return .answer(.abandoned) }
        guard state.start == job.start, state.unpacking == nil else { return nil }
        if state.version < version, !state.pending.isEmpty {
            let update = state.pending.removeFirst()
            state.unpacking = update
            defer { state.values = [] }
            return .unpack(update, state.values, epoch: state.epoch)
        }
        if state.version == version {
            if state.digest == job.lease.parameterDigest {
                return .answer(.parameters(state.values))
            }
            // Whichever side is wrong, no result is computed with them.
            state.reset()
            return .answer(.unusable(version: version))
        }
        // A later version is here already: the coordinator no longer needs this work.
        return state.version > version ? .answer(.abandoned) : nil
    }

    /// The parameters that the update leads to; nil: it cannot be used.
    private func unpacked(_ update: ParameterUpdate, _ base: [Float]) -> [Float]? {
        var values = base
        do {
            if update.base == 0 {
                values = try ParameterCodec.parameters(
                    of: update.payload, count: coding.valueCount)
            } else {
                try coding.apply(update.payload, to: &values)
            }
        } catch {
            // Whatever is wrong with it, the remedy is the same: ask for a snapshot.
            return nil
        }
        return GradientCodec.digest(of: values).bytes == update.digest ? values : nil
    }
}
