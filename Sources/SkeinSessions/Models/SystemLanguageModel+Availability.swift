import Foundation
import Observation
import SkeinBasics

extension SystemLanguageModel {
    /// Whether a model can be asked. It is looked up each time, from the model's files and the
    /// memory that is free; no weights are loaded for it.
    @frozen
    public enum Availability: Equatable, Sendable {
        /// Why a model cannot be asked. Only `modelNotReady` may pass by itself.
        public enum UnavailableReason: Hashable, Sendable {
            /// This machine has too little memory for the model with its `Resources`, whatever else runs on
            /// it.
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
    /// without a restart.
    ///
    /// Observers are told at once when the model begins to be loaded, is loaded or is unloaded, and within
    /// a second when files, free memory or the environment change: these are looked at once a second from
    /// the first reading on, as long as the model is held.
    ///
    /// `SKEIN_SIMULATE_UNAVAILABLE` set to one of the reasons' names simulates it, for tests.
    public var availability: Availability {
        registrar.access(self, keyPath: \.availability)
        return noted.availability
    }

    /// What there is, and those who observe it hear of changes from now on.
    var noted: Sight {
        let sight = sight
        AvailabilityNews.shared.note(self, sight)
        return sight
    }

    /// What can change without a sign.
    struct Sight: Equatable, Sendable {
        var availability: Availability
        var contextSize: Int
        var languages: Set<Locale.Language>
    }

    /// What there is.
    var sight: Sight {
        Sight(
            availability: currentAvailability, contextSize: currentContextSize,
            languages: currentLanguages)
    }

    private var currentAvailability: Availability {
        if let reason = Self.simulatedReason { return .unavailable(reason) }
        if script != nil { return .available }
        let path: String
        do {
            path = try place.path()
        } catch {
            // A request throws the error itself.
            return .unavailable(.appleIntelligenceNotEnabled)
        }
        let slot = ModelSlot.at(path, resources)
        if slot.isLoading { return .unavailable(.modelNotReady) }
        if let loaded = slot.loaded {
            // A request throws the error itself.
            return (try? loaded.checkFiles()) == nil ? .unavailable(.modelNotReady) : .available
        }
        // A request throws the error itself.
        guard !ModelPlace.isBeingFetched(path), let facts = try? ModelFacts.of(path) else {
            return .unavailable(.modelNotReady)
        }
        let bytes = facts.bytes(computing: resources.compute.type)
        if let whole = SystemMemory.whole, bytes > whole {
            return .unavailable(.deviceNotEligible)
        }
        if let usable = SystemMemory.usable, bytes > usable {
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
                    guard let model = self else { break }
                    // Where the system refuses a thread, the next look may have one.
                    if let now = try? await Aside.run({ model.sight }).availability, now != last {
                        continuation.yield(now)
                        last = now
                    }
                    do {
                        try await Task.sleep(for: .seconds(SessionLimits.lookSeconds))
                    } catch {
                        // Cancelled: no reader is left.
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

    /// Observers look again.
    func mayHaveChanged() {
        registrar.withMutation(of: self, keyPath: \.availability) {}
        registrar.withMutation(of: self, keyPath: \.contextSize) {}
        registrar.withMutation(of: self, keyPath: \.supportedLanguages) {}
    }
}
