import SkeinBasics
import Synchronization

/// Tells the observers of all models of this process what changes: at once when a model is loaded or
/// unloaded, and once a second what gives no sign of itself.
///
/// Whether a property is observed cannot be known. So a model is looked at from its first reading on, as
/// long as it is held.
final class AvailabilityNews: Sendable {
    static let shared = AvailabilityNews()

    private struct Listener {
        weak var model: SystemLanguageModel?
        /// What there was at the last look, or at the first reading; nil: it was not read.
        var seen: SystemLanguageModel.Sight?
        /// Whether something else was read since: others may know the older.
        var isOld = false
    }

    private struct State {
        var listeners: [ObjectIdentifier: Listener] = [:]
        var isLooking = false
    }

    private let state = Mutex(State())

    func add(_ model: SystemLanguageModel) {
        state.withLock { state in
            state.listeners = state.listeners.filter { $0.value.model != nil }
            state.listeners[ObjectIdentifier(model)] = Listener(model: model)
        }
    }

    /// A model was read, and may be observed.
    func note(_ model: SystemLanguageModel, _ sight: SystemLanguageModel.Sight) {
        let id = ObjectIdentifier(model)
        let begins = state.withLock { state in
            guard var listener = state.listeners[id] else { return false }
            if let seen = listener.seen {
                listener.isOld = listener.isOld || seen != sight
            } else {
                listener.seen = sight
            }
            state.listeners[id] = listener
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if begins { Task { await watch() } }
    }

    /// A model was loaded or unloaded.
    func tell() {
        let models = state.withLock { state in
            state.listeners.values.compactMap(\.model)
        }
        for model in models { model.mayHaveChanged() }
    }

    /// Looks once a second until no model is held that was read.
    private func watch() async {
        repeat {
            do {
                try await Task.sleep(for: .seconds(SessionLimits.lookSeconds))
                try await Aside.run { [self] in _ = look() }
            } catch {
                // The system refuses a thread: the next look may have one.
            }
        } while goesOn()
    }

    private func goesOn() -> Bool {
        state.withLock { state in
            state.listeners = state.listeners.filter { $0.value.model != nil }
            state.isLooking = state.listeners.values.contains { $0.seen != nil }
            return state.isLooking
        }
    }

    /// Looks at all models that were read, and tells of those that have changed since.
    ///
    /// - Returns: those that have changed.
    @discardableResult
    func look() -> [SystemLanguageModel] {
        var changed: [SystemLanguageModel] = []
        let read = state.withLock { state in state.listeners.values.filter { $0.seen != nil } }
        for listener in read {
            guard let model = listener.model else { continue }
            let sight = model.sight
            guard listener.isOld || sight != listener.seen else { continue }
            state.withLock { state in
                state.listeners[ObjectIdentifier(model)] = Listener(model: model, seen: sight)
            }
            model.mayHaveChanged()
            changed.append(model)
        }
        return changed
    }
}
