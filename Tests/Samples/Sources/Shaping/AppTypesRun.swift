import FoundationModels
import SampleRunner

/// Kind 23: each of the nine types is asked for once.
enum AppTypes {
    static func run() async throws {
        let options = Shaping.brief(48)
        func ask<Value: Generable>(_ text: String, _ type: Value.Type = Value.self) async throws
            -> Value
        {
            let response = try await LanguageModelSession().respond(
                to: text, generating: type, options: options)
            print("\(type): \(response.rawContent.jsonString)")
            return response.content
        }
        _ = try await ask("Anna waters the beans, Per mends the gate.", MeetingNotes.self)
        let list: PackingList = try await ask("We sleep on the hill.")
        try expect((1...3).contains(list.things.count), "the list is not empty")
        let day: DayEntry = try await ask("It rained, and I slept badly.")
        try expect((1...5).contains(day.strength) && day.causes.count <= 3, "guides hold")
        let chore: Chore = try await ask("The gutter is full of leaves.")
        try expect((1...3).contains(chore.rank), "the rank is in its range")
        let change: ChangeNote = try await ask("The list no longer jumps when it is loaded.")
        print(change.kind.rawValue, change.area ?? "(everywhere)", change.reason ?? "(no reason)")
        let mended: MendedSentence = try await ask("He have a old boat.")
        try expect(mended.changes.count <= 2, "there are at most two changes")
        let entry: CatalogueEntry = try await ask("A glass lamp with an oak foot.")
        try expect(!entry.materials.isEmpty && entry.keywords.count <= 5, "counts are bounded")
        let trouble: BikeTrouble = try await ask("It squeaks when I stop.")
        try expect((1...10).contains(trouble.severity), "the severity is in its range")
        let help: HelpRequest = try await ask("My parcel went to another town.")
        try expect((1...5).contains(help.urgency), "the urgency is in its range")
    }
}
