/// Joins the components of a closure to a prompt, each on a line of its own.
@resultBuilder
public struct PromptBuilder {
    /// Any number of components.
    public static func buildBlock<each Part: PromptRepresentable>(
        _ components: repeat each Part
    ) -> Prompt {
        var parts: [String] = []
        for component in repeat each components {
            parts += component.promptRepresentation.parts
        }
        return Prompt(parts: parts)
    }

    /// One component.
    public static func buildExpression<Part: PromptRepresentable>(_ expression: Part) -> Part {
        expression
    }

    /// An `if` without `else`: nothing, not even an empty line, if it does not hold.
    public static func buildOptional(_ component: Prompt?) -> Prompt {
        component ?? Prompt(parts: [])
    }

    /// The first branch of an `if` or `switch`.
    public static func buildEither(first component: some PromptRepresentable) -> Prompt {
        component.promptRepresentation
    }

    /// The other branch.
    public static func buildEither(second component: some PromptRepresentable) -> Prompt {
        component.promptRepresentation
    }

    /// A loop.
    public static func buildArray(_ components: [some PromptRepresentable]) -> Prompt {
        components.promptRepresentation
    }

    /// An `if #available`.
    public static func buildLimitedAvailability(
        _ component: some PromptRepresentable
    ) -> Prompt {
        component.promptRepresentation
    }
}
