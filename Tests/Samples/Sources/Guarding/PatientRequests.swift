import FoundationModels
import SampleRunner

/// Kind 33: three attempts, each after twice the time.
enum PatientRequests {
    /// `first`: before the second attempt.
    static func patiently<Value>(
        first: Duration = .seconds(1), attempts: Int = 3, _ request: () async throws -> Value
    ) async throws -> Value {
        var pause = first
        for attempt in 1...attempts {
            do {
                return try await request()
            } catch LanguageModelSession.GenerationError.rateLimited where attempt < attempts {
                print("attempt \(attempt): busy, next one in \(pause)")
                try await Task.sleep(for: pause)
                pause *= 2
            }
        }
        throw Unexpected("no attempt was made")
    }

    static func run() async throws {
        var count = 0
        let answer = try await patiently(first: .milliseconds(5)) {
            count += 1
            if count < 3 {
                throw LanguageModelSession.GenerationError.rateLimited(
                    .init(debugDescription: "everybody is asking"))
            }
            return "here you are"
        }
        print(answer)
        try expect(count == 3, "the third attempt counts")

        do {
            _ = try await patiently(first: .milliseconds(5)) { () -> String in
                throw LanguageModelSession.GenerationError.rateLimited(
                    LanguageModelSession.GenerationError.Context(debugDescription: "still"))
            }
            throw Unexpected("a fourth attempt was made")
        } catch let error as LanguageModelSession.GenerationError {
            guard case .rateLimited = error else { throw error }
            print("given up: \(error.localizedDescription)")
        }
    }
}
