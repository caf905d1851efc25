import Foundation

extension GeneratedContent {
    /// The number, made a value by `convert`.
    ///
    /// - Throws: `GeneratedContentError` if this is no number, or `convert` makes nothing of it.
    fileprivate func number<Value>(
        _ convert: (NumberText) -> Value?
    ) throws(GeneratedContentError) -> Value {
        guard case .number(let number) = storage else { throw wrongKind("a number") }
        guard let value = convert(number) else {
            throw .numberDoesNotFit(
                path: "", number: number.text, type: TypeName.of(Value.self))
        }
        return value
    }
}

extension Int: Generable {
    /// A whole number of 64 bits.
    public static var generationSchema: GenerationSchema { GenerationSchema(.number(.integer)) }

    /// The number of a content. `3.0` and `3e0` are whole numbers.
    ///
    /// - Throws: `GeneratedContentError` if it is no number, or does not fit.
    public init(_ content: GeneratedContent) throws { self = try content.number(\.int) }

    /// The value as a number with all its digits.
    public var generatedContent: GeneratedContent { GeneratedContent(NumberText(self)) }
}

extension Float: Generable {
    /// A number.
    public static var generationSchema: GenerationSchema { GenerationSchema(.number(.float)) }

    /// The nearest value of a content's number.
    ///
    /// - Throws: `GeneratedContentError` if it is no number, or beyond all values.
    public init(_ content: GeneratedContent) throws {
        self = try content.number { $0.float.isFinite ? $0.float : nil }
    }

    /// The value as a number. What is not finite becomes null, as JSON has no such number.
    public var generatedContent: GeneratedContent { GeneratedContent(NumberText(self)) }
}

extension Double: Generable {
    /// A number.
    public static var generationSchema: GenerationSchema { GenerationSchema(.number(.double)) }

    /// The nearest value of a content's number.
    ///
    /// - Throws: `GeneratedContentError` if it is no number, or beyond all values.
    public init(_ content: GeneratedContent) throws {
        self = try content.number { $0.double.isFinite ? $0.double : nil }
    }

    /// The value as a number. What is not finite becomes null, as JSON has no such number.
    public var generatedContent: GeneratedContent { GeneratedContent(NumberText(self)) }
}

extension Decimal: Generable {
    /// A number.
    public static var generationSchema: GenerationSchema { GenerationSchema(.number(.decimal)) }

    /// The number of a content, without rounding.
    ///
    /// - Throws: `GeneratedContentError` if it is no number, or its digits do not fit
    ///   into 128 bits.
    public init(_ content: GeneratedContent) throws { self = try content.number(\.decimal) }

    /// The value as a number with all its digits. NaN becomes null, as JSON has no such number.
    public var generatedContent: GeneratedContent { GeneratedContent(NumberText(self)) }
}
