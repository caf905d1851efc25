import FoundationModels
import SampleRunner

/// Kind 22: cases with values.
@Generable
enum Correction {
    case spelling(wrong: String, right: String)
    case comma(afterWord: Int)
    case none
}

/// Kind 22: cases with a struct of their own, and without values.
@Generable
enum Appointment {
    @Generable
    struct Hour {
        @Guide(.range(0...23))
        var hour: Int
        @Guide(.range(0...59))
        var minute: Int
    }

    case once(Hour)
    case weekly(day: Weekday, at: Hour)
    case cancelled
}

@Generable
enum Weekday: String, CaseIterable {
    case monday, wednesday, friday
}

enum Corrections {
    static func run() async throws {
        let correction = try await LanguageModelSession().respond(
            to: "Correct one thing: Teh boat leaves at noon.", generating: Correction.self,
            options: Shaping.brief(40))
        switch correction.content {
        case .spelling(let wrong, let right): print("\(wrong) -> \(right)")
        case .comma(let word): print("a comma after word \(word)")
        case .none: print("nothing to correct")
        }

        let appointment = try await LanguageModelSession().respond(
            to: "The choir meets on Wednesdays at half past seven.", generating: Appointment.self,
            options: GenerationOptions(maximumResponseTokens: 96))
        switch appointment.content {
        case .once(let hour): print("once at \(hour.hour):\(hour.minute)")
        case .weekly(let day, let hour):
            print("each \(day.rawValue) at \(hour.hour):\(hour.minute)")
        case .cancelled: print("not at all")
        }

        // What such values look like for a model, and back.
        let weekly = Appointment.weekly(day: .friday, at: .init(hour: 19, minute: 30))
        print(weekly.generatedContent.jsonString)
        let again = try Appointment(weekly.generatedContent)
        guard case .weekly(.friday, let hour) = again else {
            throw Unexpected("the value does not come back: \(again)")
        }
        try expect(hour.minute == 30, "the nested value comes back, too")
        let cancelled = try Appointment(Appointment.cancelled.generatedContent)
        guard case .cancelled = cancelled else { throw Unexpected("no case without values") }
    }
}
