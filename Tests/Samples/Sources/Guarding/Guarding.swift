import FoundationModels
import SampleRunner

/// Errors, safety, and the room of a session: kinds 31 to 39 and 50 to 52.
@main
struct Guarding {
    static func main() async {
        await SampleProgram.run([
            Sample("StreamErrors") { try await StreamErrors.run() },
            Sample("GuardedPrompts") { try await GuardedPrompts.run() },
            Sample("PatientRequests", needsModel: false) { try await PatientRequests.run() },
            Sample("NeverThrows") { try await NeverThrows.run() },
            Sample("FullWindow") { try await FullWindow.run() },
            Sample("FixedTopics") { try await FixedTopics.run() },
            Sample("WordLists") { try await WordLists.run() },
            Sample("PermissiveModel") { try await PermissiveModel.run() },
            Sample("Tagging") { try await Tagging.run() },
            Sample("TokenBudget") { try await TokenBudget.run() },
            Sample("PickedRecords") { try await PickedRecords.run() },
            Sample("NamesAtOnce") { try await NamesAtOnce.run() },
        ])
    }
}
