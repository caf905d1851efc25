import FoundationModels
import SampleRunner

/// Kind 25: a form that is known at run time only.
enum MenuOfTheDay {
    static func run() async throws {
        // As read from a file or a form.
        let dishes = ["barley soup", "plum cake", "fried trout"]
        let extras = ["cream", "bread", "salad"]

        let dish = DynamicGenerationSchema(name: "Dish", anyOf: dishes)
        let extra = DynamicGenerationSchema(name: "Extra", anyOf: extras)
        let course = DynamicGenerationSchema(
            name: "Course", description: "One dish, with what goes with it",
            properties: [
                DynamicGenerationSchema.Property(
                    name: "dish", schema: DynamicGenerationSchema(referenceTo: "Dish")),
                DynamicGenerationSchema.Property(
                    name: "extras",
                    schema: DynamicGenerationSchema(
                        arrayOf: DynamicGenerationSchema(referenceTo: "Extra"), minimumElements: 1,
                        maximumElements: 2)),
            ])
        let menu = DynamicGenerationSchema(
            name: "Menu",
            properties: [
                DynamicGenerationSchema.Property(
                    name: "price", description: "In crowns",
                    schema: DynamicGenerationSchema(type: Int.self, guides: [.range(5...40)])),
                DynamicGenerationSchema.Property(
                    name: "courses",
                    schema: DynamicGenerationSchema(
                        arrayOf: DynamicGenerationSchema(referenceTo: "Course"),
                        minimumElements: 1, maximumElements: 2)),
                DynamicGenerationSchema.Property(
                    name: "hasWine", schema: DynamicGenerationSchema(type: Bool.self),
                    isOptional: true),
            ])
        let schema = try GenerationSchema(root: menu, dependencies: [course, dish, extra])

        let session = LanguageModelSession(instructions: "You write the menu of an inn.")
        let response = try await session.respond(
            to: "Write today's menu.", schema: schema,
            options: GenerationOptions(maximumResponseTokens: 128))
        let content = response.content
        print(content.jsonString)
        let price = try content.value(Int.self, forProperty: "price")
        let courses: [GeneratedContent] = try content.value(forProperty: "courses")
        let wine = try content.value(Bool?.self, forProperty: "hasWine")
        print(price, wine ?? false)
        try expect((5...40).contains(price), "the guide holds")
        for course in courses {
            let dish = try course.value(String.self, forProperty: "dish")
            let extras = try course.value([String].self, forProperty: "extras")
            print("\(dish) with \(extras.joined(separator: " and "))")
            try expect(dishes.contains(dish), "the dish is on the list")
        }

        do {
            _ = try GenerationSchema(root: menu, dependencies: [course])
            throw Unexpected("a reference to nothing was taken")
        } catch GenerationSchema.SchemaError.undefinedReferences(_, let references, _) {
            print("missing: \(references)")
        }
    }
}
