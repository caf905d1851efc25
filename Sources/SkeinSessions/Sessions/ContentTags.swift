/// What a model for tagging says where no type is asked for.
struct ContentTags {
    /// The most tags of a reply.
    static let most = 10

    /// An object with a list of short texts, `tags`.
    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Tags.self,
            properties: [
                GenerationSchema.Property(
                    name: "tags",
                    description: "the main topics, unless asked for actions, emotions or objects",
                    type: [String].self, guides: [.maximumCount(most)])
            ])
    }

    /// The shape of the tags, for the schema's name.
    private struct Tags: Generable {
        var tags: [String]

        init(_ content: GeneratedContent) throws {
            tags = try content.value(forProperty: "tags")
        }

        static var generationSchema: GenerationSchema { ContentTags.generationSchema }

        var generatedContent: GeneratedContent { GeneratedContent(properties: ["tags": tags]) }
    }
}
