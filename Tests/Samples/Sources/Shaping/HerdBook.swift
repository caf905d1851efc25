import FoundationModels
import SampleRunner

/// Kind 16: a type with a description, and guided properties.
@Generable(description: "An animal of the alpine herd")
struct HerdAnimal {
    @Guide(description: "What the children call it", .anyOf(["Flecki", "Zilla", "Bruno", "Mira"]))
    var name: String

    @Guide(description: "Its age in years", .range(0...20))
    var age: Int

    @Guide(description: "One sentence about its ways")
    var habit: String
}

enum HerdBook {
    static func run() async throws {
        let session = LanguageModelSession()
        let response = try await session.respond(
            to: "Describe an animal of our herd.", generating: HerdAnimal.self,
            options: Shaping.brief())
        let animal = response.content
        print("\(animal.name), \(animal.age): \(animal.habit)")
        try expect((0...20).contains(animal.age), "the age is in its range")
        try expect(
            ["Flecki", "Zilla", "Bruno", "Mira"].contains(animal.name), "the name is listed")
    }
}
