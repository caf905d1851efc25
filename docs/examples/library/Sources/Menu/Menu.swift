import Foundation
import Skein

@Generable(description: "A dish of a restaurant")
struct Dish {
    @Guide(description: "what it is called", .pattern(/[A-Z][a-z]{2,11}( [a-z]{2,11}){0,3}/))
    var name: String
    @Guide(description: "in euros", .range(5...40))
    var price: Int
    var course: Course
    @Guide(description: "what guests may not bear", .maximumCount(2))
    var allergens: [Allergen]
}

@Generable
enum Course {
    case starter, main, dessert
}

@Generable
enum Allergen {
    case gluten, milk, nuts, fish
}

@Generable(description: "A restaurant's menu")
struct Card {
    @Guide(description: "the dishes", .count(3))
    var dishes: [Dish]
}

/// `Menu MODEL PROMPT`: a menu that is always one, whatever the model.
@main enum Menu {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 2 else {
            print("usage: Menu MODEL PROMPT")
            exit(64)
        }
        let session = LanguageModelSession(
            model: SystemLanguageModel(model: URL(filePath: words[1])),
            instructions: "You write menus for restaurants.")
        let reply = try await session.respond(
            to: words[2], generating: Card.self, options: GenerationOptions(samplingMode: .greedy))
        for dish in reply.content.dishes {
            let allergens = dish.allergens.map { "\($0)" }.joined(separator: ", ")
            print("\(dish.course): \(dish.name), \(dish.price) euros", allergens)
        }
        let usage = reply.usage
        print(
            "tokens: \(usage.input.totalTokenCount) read, \(usage.output.totalTokenCount) written")
    }
}
