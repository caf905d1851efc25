import Foundation
import FoundationModels
import SampleRunner

/// Kind 4: a program that follows the model's state without a restart.
///
/// `SKEIN_SIMULATE_UNAVAILABLE` is this library's switch for trying that.
enum StatusUpdates {
    static func run() async throws {
        let model = SystemLanguageModel.default
        let now = model.availability

        setenv("SKEIN_SIMULATE_UNAVAILABLE", "deviceNotEligible", 1)
        defer { unsetenv("SKEIN_SIMULATE_UNAVAILABLE") }
        try expect(model.availability == .unavailable(.deviceNotEligible), "a reason is simulated")
        try expect(!model.isAvailable, "the model is not available then")

        var seen: [SystemLanguageModel.Availability] = []
        for await availability in model.availabilityUpdates {
            print("now: \(ModelStatus.shortLine(availability))")
            seen.append(availability)
            if seen.count == 2 { break }
            unsetenv("SKEIN_SIMULATE_UNAVAILABLE")
        }
        try expect(seen == [.unavailable(.deviceNotEligible), now], "both states were seen")

        // Without updates: compare with what was last shown.
        var shown = SystemLanguageModel.Availability.unavailable(.modelNotReady)
        if model.availability != shown {
            shown = model.availability
            print("shown anew: \(ModelStatus.shortLine(shown))")
        }
    }
}
