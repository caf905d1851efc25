import FoundationModels
import SampleRunner

/// Why the ferry's office gives no answer.
enum OfficeError: Error {
    case closed(until: Int)
}

/// Kind 47: a tool that fails.
struct FerryOffice: Tool {
    let name = "ferryOffice"
    let description = "Asks the office for free places on the ferry."

    @Generable
    struct Arguments {
        @Guide(.range(1...9))
        var cars: Int
    }

    func call(arguments: Arguments) async throws -> String {
        throw OfficeError.closed(until: 8)
    }
}

/// A failure that the model is told of, instead.
struct PatientOffice: Tool {
    let name = "patientOffice"
    let description = "Asks the office for free places on the ferry."

    func call(arguments: FerryOffice.Arguments) async throws -> String {
        do {
            return try await FerryOffice().call(arguments: arguments)
        } catch {
            return "The office is closed. Ask again at eight."
        }
    }
}

enum ToolFailures {
    static func run() async throws {
        let session = LanguageModelSession(
            tools: [FerryOffice()], instructions: "Ask the office for places.")
        do {
            let response = try await session.respond(
                to: "Is there a place for my car?", options: Calling.certain(32))
            throw Unexpected("the failure was not told: \(response.content)")
        } catch let error as LanguageModelSession.ToolCallError {
            print("\(error.tool.name) failed: \(error.localizedDescription)")
            try expect(error.tool.name == "ferryOffice", "the error names the tool")
            guard case OfficeError.closed(let hour)? = error.underlyingError as? OfficeError else {
                throw Unexpected("another error: \(error.underlyingError)")
            }
            print("closed until \(hour)")
        }
        try expect(!session.isResponding, "the session can go on")

        let patient = LanguageModelSession(
            tools: [PatientOffice()], instructions: "Ask the office for places.")
        _ = try await patient.respond(
            to: "Is there a place for my car?", options: Calling.certain(32))
        print(patient.transcript)
    }
}
