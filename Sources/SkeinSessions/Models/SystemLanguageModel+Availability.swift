import Foundation
import Observation
import SkeinBasics
import Synchronization

extension SystemLanguageModel {
    /// Whether a model can be asked.
    @frozen
    public enum Availability: Equatable, Sendable {
        /// Why it cannot.
        public enum UnavailableReason: Hashable, Sendable {
            /// This machine has too little memory for the model, whatever else runs on it.
            case deviceNotEligible
            /// No model is configured.
            case appleIntelligenceNotEnabled
            /// The model is being fetched or loaded, its files cannot be read now, or too little memory is
            /// free for it now.
            case modelNotReady
        }

        case available
        case unavailable(UnavailableReason)
    }

    /// Whether the model can be asked now. Its files are looked at each time, so what changes is seen
    /// without a restart; views that observe the model are told when it is being loaded and when it is.
    ///
    /// `SKEIN_SIMULATE_UNAVAILABLE` set to one of the reasons' names simulates it, for tests.
    public var availability: Availability {
        registrar.access(self, keyPath: \.availability)
        if let reason = Self.simulatedReason { return .unavailable(reason) }
        if script != nil { return .available }
        let path: String
        do {
            path = try place.path()
        } catch {
            return .unavailable(.appleIntelligenceNotEnabled)
        }
        let slot = ModelSlot.at(path, resources)
        if slot.isLoading { return .unavailable(.modelNotReady) }
        if let loaded = slot.loaded {
            return (try? loaded.checkFiles()) == nil ? .unavailable(.modelNotReady) : .available
        }
        guard !ModelPlace.isBeingFetched(path), let facts = try? ModelFacts.of(path) else {
            return .unavailable(.modelNotReady)
        }
        if let whole = SystemMemory.whole, facts.bytes > whole {
            return .unavailable(.deviceNotEligible)
        }
        if let usable = SystemMemory.usable, facts.bytes > usable {
            return .unavailable(.modelNotReady)
        }
        return .available
    }

    /// Whether the model can be asked now.
    public var isAvailable: Bool { availability == .available }

    /// `availability` now, and each time that it has changed.
    ///
    /// Files can change without a sign, so they are looked at once a second.
    public var availabilityUpdates: some AsyncSequence<Availability, Never> & Sendable {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task { [weak self] in
                var last: Availability?
                while !Task.isCancelled {
                    guard let model = self, let now = try? await Aside.run({ model.availability })
                    else { break }
                    if now != last { continuation.yield(now) }
                    last = now
                    do {
                        try await Task.sleep(for: .seconds(1))
                    } catch {
                        break
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// What `SKEIN_SIMULATE_UNAVAILABLE` says; nil if it says nothing, or no reason's name.
    static var simulatedReason: Availability.UnavailableReason? {
        // Asked at each request: the whole environment would be made a dictionary each time.
        switch getenv("SKEIN_SIMULATE_UNAVAILABLE").map({ String(cString: $0) }) {
        case "deviceNotEligible": .deviceNotEligible
        case "appleIntelligenceNotEnabled": .appleIntelligenceNotEnabled
        case "modelNotReady": .modelNotReady
        default: nil
        }
    }

    /// Whoever observes the availability looks again.
    fileprivate func availabilityMayHaveChanged() {
        registrar.withMutation(of: self, keyPath: \.availability) {}
    }
}

/// Tells all models of this process when one of them was loaded or unloaded.
final class AvailabilityNews: Sendable {
    static let shared = AvailabilityNews()

    private struct Listener {
        weak var model: SystemLanguageModel?
    }

    private let listeners = Mutex([Listener]())

    func add(_ model: SystemLanguageModel) {
        listeners.withLock { listeners in
            listeners.removeAll { $0.model == nil }
            listeners.append(Listener(model: model))
        }
    }

    func tell() {
        let models = listeners.withLock { $0.compactMap(\.model) }
        for model in models { model.availabilityMayHaveChanged() }
    }
}
