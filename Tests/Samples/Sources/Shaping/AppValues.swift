import FoundationModels
import SampleRunner

/// Kind 24: values that no model made, for previews and tests.
enum AppValues {
    static func run() async throws {
        let list = PackingList(things: [
            .init(name: "rope", amount: "9 metres"), .init(name: "map", amount: "1 pieces"),
        ])
        try expect(
            list.things.map(\.name) == ["rope", "map"], "the memberwise initialiser is there")

        let change = ChangeNote(kind: .fix, subject: "The gate closes", area: nil, reason: "Goats")
        let content = change.generatedContent
        print(content.jsonString)
        let again = try ChangeNote(content)
        try expect(again.area == nil && again.reason == "Goats", "nil comes back as nil")
        try expect(again.kind == .fix, "the case comes back")

        // What a program does with values, tried without a model.
        func isUrgent(_ help: HelpRequest) -> Bool { help.urgency >= 4 }
        let help = HelpRequest(
            subject: .repair, urgency: 5, channel: .phone, summary: "No heating")
        try expect(isUrgent(help), "5 is urgent")
        let typed = try HelpRequest(
            GeneratedContent(properties: [
                "subject": "bill", "urgency": 2, "channel": "form", "summary": "Paid twice",
            ]))
        try expect(!isUrgent(typed), "2 is not")

        do {
            _ = try HelpRequest(GeneratedContent(properties: ["subject": "weather"]))
            throw Unexpected("a value of no case was taken")
        } catch let error as GeneratedContentError {
            print(error)
        }
        let partial = help.asPartiallyGenerated()
        try expect(partial.summary == "No heating", "a whole value is a partial one, too")
    }
}
