extension Transcript {
    /// A tool as it is presented to the model.
    public struct ToolDefinition: Sendable {
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
    public struct ResponseFormat: Sendable {
        /// The name of the asked-for type.
        public var name: String
        /// What the answer looks like.
        package let schema: GenerationSchema

        /// - Parameter schema: what the answer looks like; its title is the format's name.
        public init(schema: GenerationSchema) {
            self.init(name: SchemaText.title(of: schema) ?? "", schema: schema)
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

extension Transcript.ToolDefinition: Equatable {
    /// Equal names, descriptions and schemas.
    ///
    /// - Parameters:
    ///   - one: a definition.
    ///   - other: another one.
    /// - Returns: whether they are equal.
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && one.description == other.description
            && SchemaText.areEqual(one.parameters, other.parameters)
    }
}

extension Transcript.ResponseFormat: Equatable {
    /// Equal names and schemas.
    ///
    /// - Parameters:
    ///   - one: a format.
    ///   - other: another one.
    /// - Returns: whether they are equal.
    public static func == (one: Self, other: Self) -> Bool {
        one.name == other.name && SchemaText.areEqual(one.schema, other.schema)
    }
}
