/// Joins the components of a closure to instructions, each on a line of its own.
@resultBuilder
public struct InstructionsBuilder {
    /// Any number of components.
    public static func buildBlock<each Part: InstructionsRepresentable>(
        _ components: repeat each Part
    ) -> Instructions {
        var parts: [String] = []
        for component in repeat each components {
            parts += component.instructionsRepresentation.parts
        }
        return Instructions(parts: parts)
    }

    /// One component.
    public static func buildExpression<Part: InstructionsRepresentable>(_ expression: Part) -> Part
    {
        expression
    }

    /// An `if` without `else`: nothing, not even an empty line, if it does not hold.
    public static func buildOptional(_ component: Instructions?) -> Instructions {
        component ?? Instructions(parts: [])
    }

    /// The first branch of an `if` or `switch`.
    public static func buildEither(first component: some InstructionsRepresentable) -> Instructions
    {
        component.instructionsRepresentation
    }

    /// The other branch.
    public static func buildEither(second component: some InstructionsRepresentable) -> Instructions
    {
        component.instructionsRepresentation
    }

    /// A loop.
    public static func buildArray(_ components: [some InstructionsRepresentable]) -> Instructions {
        components.instructionsRepresentation
    }

    /// An `if #available`.
    public static func buildLimitedAvailability(
        _ component: some InstructionsRepresentable
    ) -> Instructions {
        component.instructionsRepresentation
    }
}
