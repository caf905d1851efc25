import Synchronization

/// Bounds what the grammars of one server take together, those included that have left their cache and
/// are still used. Any thread may call.
///
/// States and masks are made again when they are needed, so those of grammars that were not used for
/// longest are forgotten. What a grammar itself takes cannot be forgotten as long as it is in use:
/// `GrammarCache` makes room before it compiles.
final class GrammarMemory: Sendable {
    private struct Member {
        weak var grammar: CompiledGrammar?
        /// Bytes of its network.
        let networkBytes: Int
        /// Bytes of its states and masks.
        var stateBytes = 0
        /// Which of its reports that is from.
        var report = 0
        /// When it was used, counted in uses.
        var used: Int
    }

    private struct State {
        var members: [ObjectIdentifier: Member] = [:]
        var networkBytes = 0
        var stateBytes = 0
        var uses = 0
    }

    /// Bytes of states and masks of all grammars. One that is at work may exceed it for as long.
    let stateLimit: Int
    private let state = Mutex(State())

    init(stateLimit: Int) { self.stateLimit = stateLimit }

    /// Bytes of all networks in use.
    var networkBytes: Int { state.withLock { $0.networkBytes } }
    /// Bytes of all states and masks.
    var stateBytes: Int { state.withLock { $0.stateBytes } }

    func add(_ grammar: CompiledGrammar, networkBytes: Int) {
        state.withLock { state in
            state.uses += 1
            state.members[ObjectIdentifier(grammar)] = Member(
                grammar: grammar, networkBytes: networkBytes, used: state.uses)
            state.networkBytes += networkBytes
        }
    }

    /// The grammar is gone.
    func remove(_ id: ObjectIdentifier) {
        state.withLock { state in
            guard let member = state.members.removeValue(forKey: id) else { return }
            state.networkBytes -= member.networkBytes
            state.stateBytes -= member.stateBytes
        }
    }

    /// What the states and masks of a grammar take, as found under its lock.
    struct Report: Sendable {
        /// From 1; the higher one is the newer one. Threads that report hold no lock any more and may
        /// come in any order.
        let number: Int
        let stateBytes: Int
    }

    /// Learns what a grammar's states take now that it was used; others may have to forget theirs.
    /// The caller holds no grammar's lock.
    func note(_ grammar: CompiledGrammar, _ report: Report) {
        let crowded = state.withLock { state in
            state.uses += 1
            state.members[ObjectIdentifier(grammar)]?.used = state.uses
            Self.take(report, of: grammar, &state)
            return state.stateBytes > stateLimit
        }
        if crowded { makeRoom(for: grammar) }
    }

    private static func take(
        _ report: Report, of grammar: CompiledGrammar, _ state: inout State
    ) {
        let id = ObjectIdentifier(grammar)
        guard let member = state.members[id], member.report < report.number else { return }
        state.stateBytes += report.stateBytes - member.stateBytes
        state.members[id]?.stateBytes = report.stateBytes
        state.members[id]?.report = report.number
    }

    private func makeRoom(for user: CompiledGrammar) {
        let others = state.withLock { state in
            state.members.values.filter { $0.stateBytes > 0 }.sorted { $0.used < $1.used }
                .compactMap(\.grammar)
        }
        for other in others where other !== user {
            // One that is at work is used just now, and is not waited for.
            guard let left = other.forgetIfIdle() else { continue }
            let isDone = state.withLock { state in
                Self.take(left, of: other, &state)
                return state.stateBytes <= stateLimit
            }
            if isDone { return }
        }
    }
}
