/// Makes a struct, an enum, or an actor whose properties are `let`, a type that a model can write.
///
/// ```swift
/// @Generable(description: "A book review")
/// struct Review {
///     @Guide(description: "From bad to good", .range(1...5))
///     var rating: Int
///     var summary: String
/// }
/// ```
///
/// Properties are written in the order of their declaration. Those that are computed, static, lazy
/// or a `let` with a value are not generated, and neither is a `GenerationID`, which is the content's.
///
/// - Parameter description: what the type is, for the model.
@attached(extension, conformances: Generable, names: named(init(_:)))
@attached(member, names: arbitrary)
public macro Generable(description: String? = nil) =
    #externalMacro(module: "SkeinMacros", type: "GenerableMacro")

/// Makes a struct or an enum a type that a model can write, and says how it writes nil.
///
/// - Parameters:
///   - description: what the type is, for the model.
///   - representNilExplicitlyInGeneratedContent: whether the model writes null for an optional
///     property without a value, instead of leaving it out.
@attached(extension, conformances: Generable, names: named(init(_:)))
@attached(member, names: arbitrary)
public macro Generable(
    description: String? = nil, representNilExplicitlyInGeneratedContent: Bool
) = #externalMacro(module: "SkeinMacros", type: "GenerableMacro")

/// Describes a property of a `@Generable` type to the model.
///
/// - Parameter description: what the property is.
@attached(peer)
public macro Guide(description: String) =
    #externalMacro(module: "SkeinMacros", type: "GuideMacro")

/// Says what the value of a property of a `@Generable` type must be beyond its type.
///
/// - Parameters:
///   - description: what the property is, for the model.
///   - guides: what holds for each value, all of them at once.
@attached(peer)
public macro Guide<Value: Generable>(
    description: String? = nil, _ guides: GenerationGuide<Value>...
) = #externalMacro(module: "SkeinMacros", type: "GuideMacro")

/// Says that the text of a property of a `@Generable` type matches a regular expression as a whole.
///
/// - Parameters:
///   - description: what the property is, for the model.
///   - guides: the expression.
@attached(peer)
public macro Guide<Output>(description: String? = nil, _ guides: Regex<Output>) =
    #externalMacro(module: "SkeinMacros", type: "GuideMacro")
