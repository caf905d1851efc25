extension Transcript {
    /// A tool as it is presented to the model.
    public struct ToolDefinition: Sendable, Equatable {
        /// What the model calls it by.
        public var name: String
        /// What it is good for.
        public var description: String
        /// What its arguments look like.
        public let parameters: GenerationSchema

        /// - Parameters:
        ///   - name: what the model calls it by.
        ///   - description: what it is good for.
        ///   - parameters: what its arguments look like.
        public init(name: String, description: String, parameters: GenerationSchema) {
            self.name = name
            self.description = description
            self.parameters = parameters
        }

        /// The definition of a tool.
        ///
        /// - Parameter tool: one that a session is given.
        public init(tool: some Tool) {
            self.init(
                name: tool.name, description: tool.description, parameters: tool.parameters)
        }
    }

    /// The form that an answer must have.
    public struct ResponseFormat: Sendable, Equatable {
        /// The name of the asked-for type.
        public var name: String
        /// What the answer looks like.
        package let schema: GenerationSchema

        /// - Parameter schema: what the answer looks like; its name is the format's, too.
        public init(schema: GenerationSchema) {
            self.init(name: schema.name, schema: schema)
        }

        /// - Parameter type: the type of the answer.
        public init<Content: Generable>(type: Content.Type) {
            self.init(name: TypeName.of(type), schema: type.generationSchema)
        }

        package init(name: String, schema: GenerationSchema) {
            self.name = name
            self.schema = schema
        }
    }
}

extension [any Tool] {
    /// The definitions that instructions list.
    var presented: [Transcript.ToolDefinition] {
        filter(\.includesSchemaInInstructions).map { Transcript.ToolDefinition(tool: $0) }
    }
}
