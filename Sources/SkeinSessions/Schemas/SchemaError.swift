extension GenerationSchema {
    /// Why a schema cannot be used.
    ///
    /// Schemas that are made at run time throw it where they are made, schemas of types where they
    /// are first used.
    public enum SchemaError: Error, Equatable, Sendable {
        /// Two different things have the same name.
        case duplicateType(schema: String?, type: String, context: Context)
        /// Two properties have the same name.
        case duplicateProperty(schema: String, property: String, context: Context)
        /// There is nothing to choose from.
        case emptyTypeChoices(schema: String, context: Context)
        /// References to schemas that are nowhere.
        case undefinedReferences(schema: String?, references: [String], context: Context)
        /// A guide that no value satisfies, or that is not for values of this type. `property` is the
        /// path from the schema; empty for the schema itself.
        case invalidGuide(schema: String, property: String, context: Context)
        /// A type whose values must hold a value of the same type, and so on. `path` leads from the
        /// type back to it.
        case endlessRecursion(schema: String, path: String, context: Context)
        /// More types, or parts inside of parts, than allowed.
        case tooLarge(schema: String, limit: Int, context: Context)

        /// More about an error.
        public struct Context: Equatable, Sendable {
            /// What is wrong, for the author of the schema.
            public let debugDescription: String

            /// More about an error.
            public init(debugDescription: String) {
                self.debugDescription = debugDescription
            }
        }
    }
}
