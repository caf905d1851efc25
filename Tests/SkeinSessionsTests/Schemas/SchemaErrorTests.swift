import Foundation
import RegexBuilder
import Testing

@testable import SkeinSessions

@Suite("Schemas that contradict themselves")
struct SchemaErrorTests {
    typealias SchemaError = GenerationSchema.SchemaError
    typealias Property = GenerationSchema.Property

    private func error(_ schema: GenerationSchema) -> SchemaError? {
        #expect(throws: SchemaError.self, performing: { try schema.jsonText() })
    }

    private func error(_ properties: Property...) -> SchemaError? {
        error(GenerationSchema(type: Review.self, properties: properties))
    }

    @Test("guides that no value satisfies tell the property")
    func guides() {
        let wrong: [(Property, String, String)] = [
            (
                .init(name: "a", type: Int.self, guides: [.minimum(5), .maximum(3)]), "a",
                "the minimum, 5, is above the maximum, 3"
            ),
            (
                .init(name: "a", type: Double?.self, guides: [.range(0...1), .minimum(1.5)]), "a",
                "the minimum, 1.5, is above the maximum, 1"
            ),
            (
                .init(name: "a", type: Decimal.self, guides: [.minimum(.nan)]), "a",
                "a bound that no number satisfies"
            ),
            (
                .init(name: "a", type: Double.self, guides: [.minimum(.infinity)]), "a",
                "a bound that no number satisfies"
            ),
            (
                .init(name: "a", type: [Int].self, guides: [.count(-1)]), "a",
                "-1 is no number of elements"
            ),
            (
                .init(name: "a", type: [Int].self, guides: [.minimumCount(3), .maximumCount(2)]),
                "a", "the least number of elements, 3, is above 2"
            ),
            (
                .init(
                    name: "a", type: [[Int]].self,
                    guides: [.element(.element(.range(3...4))), .element(.element(.minimum(5)))]),
                "a[][]", "the minimum, 5, is above the maximum, 4"
            ),
            (
                .init(name: "a", type: String.self, guides: [.anyOf([])]), "a",
                "no text satisfies it"
            ),
            (
                .init(name: "a", type: String.self, guides: [.anyOf(["x"]), .constant("y")]), "a",
                "no text satisfies it"
            ),
            (
                .init(
                    name: "a", type: String.self,
                    guides: [.pattern(Regex { Even() })]), "a",
                "its pattern has no text: write it as a literal, not with RegexBuilder"
            ),
            (
                .init(name: "a", type: String.self, guides: [.pattern(source: "[a[bc]]")]), "a",
                "its pattern has a set inside of a set: write it as one"
            ),
            (
                .init(name: "a", type: String.self, guides: [.pattern(source: #"[\w--\d]"#)]), "a",
                "its pattern has -- in a set: write it as one set"
            ),
        ]
        for (property, path, what) in wrong {
            #expect(
                error(property)
                    == .invalidGuide(
                        schema: "Review", property: path, context: .init(debugDescription: what)))
        }
    }

    @Test("names of properties and cases are used once")
    func names() {
        #expect(
            error(.init(name: "a", type: Int.self), .init(name: "a", type: Int.self))
                == .duplicateProperty(
                    schema: "Review", property: "a",
                    context: .init(debugDescription: "an object has one property of a name")))
        let cases = GenerationSchema(type: Shape.self, cases: [.init(name: "a"), .init(name: "a")])
        #expect(
            error(cases)
                == .duplicateType(
                    schema: "Shape", type: "a",
                    context: .init(debugDescription: "both are cases of the enum")))
        let clash = GenerationSchema(
            type: Shape.self,
            cases: [.init(name: "a", properties: [.init(name: "type", type: Int.self)])])
        #expect(
            error(clash)
                == .duplicateProperty(
                    schema: "Shape", property: "type",
                    context: .init(debugDescription: "an object has one property of a name")))
    }

    @Test("a choice has choices")
    func choices() {
        let none: [String] = []
        let types: [any Generable.Type] = []
        for schema in [
            GenerationSchema(type: Mood.self, anyOf: none),
            GenerationSchema(type: Mood.self, anyOf: types),
            GenerationSchema(type: Mood.self, cases: []),
        ] {
            #expect(
                error(schema)
                    == .emptyTypeChoices(
                        schema: "Mood", context: .init(debugDescription: "no value satisfies it")))
        }
    }

    @Test("recursion without an end is told with its path")
    func recursion() {
        #expect(
            error(Chicken.generationSchema)
                == .endlessRecursion(
                    schema: "Chicken", path: "Chicken.egg.chicken",
                    context: .init(debugDescription: "no value of it ends")))
        #expect(
            error(
                GenerationSchema(
                    type: Mood.self, properties: [.init(name: "x", type: Chicken?.self)]))
                == .endlessRecursion(
                    schema: "Chicken", path: "Chicken.egg.chicken",
                    context: .init(debugDescription: "no value of it ends")))
        #expect(
            error(Many.generationSchema)
                == .endlessRecursion(
                    schema: "Many", path: "Many.items[]",
                    context: .init(debugDescription: "no value of it ends")))
        // These end: by an optional, an empty array, or another choice.
        #expect(throws: Never.self, performing: { try Trip.generationSchema.resolved() })
        #expect(throws: Never.self, performing: { try Expression.generationSchema.resolved() })
    }

    @Test("a type that leads to ever new types is refused")
    func unlimited() {
        guard case .tooLarge(_, let limit, _) = error(Endless<Int>.generationSchema) else {
            Issue.record("no error")
            return
        }
        #expect(limit == SessionLimits.nameBytes)
    }

    @Test("errors of dynamic schemas come when they are made")
    func dynamic() {
        typealias Dynamic = DynamicGenerationSchema
        func error(_ root: Dynamic, _ dependencies: Dynamic...) -> SchemaError? {
            #expect(
                throws: SchemaError.self,
                performing: { try GenerationSchema(root: root, dependencies: dependencies) })
        }
        func context(_ text: String) -> SchemaError.Context { .init(debugDescription: text) }
        let text = Dynamic(type: String.self)
        let one = Dynamic(name: "One", properties: [.init(name: "a", schema: text)])
        let other = Dynamic(name: "One", properties: [.init(name: "b", schema: text)])
        let root = Dynamic(
            name: "Root",
            properties: [.init(name: "x", schema: .init(arrayOf: .init(referenceTo: "One")))])
        #expect(
            error(root)
                == .undefinedReferences(
                    schema: "Root", references: ["One"],
                    context: context("neither root nor dependencies have these names")))
        #expect(
            error(root, one, one)
                == .duplicateType(
                    schema: "Root", type: "One", context: context("both are listed")))
        #expect(
            error(one, other)
                == .duplicateType(schema: "One", type: "One", context: context("both are listed")))
        let both = Dynamic(
            name: "Both",
            properties: [.init(name: "a", schema: one), .init(name: "b", schema: other)])
        #expect(
            error(both)
                == .duplicateType(
                    schema: "Both", type: "One", context: context("they are different")))
        #expect(
            error(Dynamic(name: "Empty", anyOf: [String]()))
                == .emptyTypeChoices(schema: "Empty", context: context("no value satisfies it")))
        #expect(
            error(Dynamic(name: "Empty", anyOf: [Dynamic]()))
                == .emptyTypeChoices(schema: "Empty", context: context("no value satisfies it")))
        #expect(
            error(
                Dynamic(
                    name: "Twice",
                    properties: [.init(name: "a", schema: text), .init(name: "a", schema: text)]))
                == .duplicateProperty(
                    schema: "Twice", property: "a",
                    context: context("an object has one property of a name")))
        #expect(
            error(Dynamic(arrayOf: text, minimumElements: 2, maximumElements: 1))
                == .invalidGuide(
                    schema: "Array", property: "",
                    context: context("the least number of elements, 2, is above 1")))
        #expect(
            error(
                Dynamic(name: "A", anyOf: [.init(referenceTo: "B")]),
                Dynamic(name: "B", anyOf: [.init(referenceTo: "A")]))
                == .endlessRecursion(
                    schema: "A", path: "A", context: context("no value of it ends")))
        var deep = text
        for _ in 0..<100 { deep = Dynamic(arrayOf: deep) }
        #expect(
            error(deep)
                == .tooLarge(
                    schema: "", limit: 64, context: context("schemas are nested too deep")))
    }

    @Test("errors say what, where and how to mend it")
    func explained() {
        let context = SchemaError.Context(debugDescription: "x")
        let all: [(SchemaError, String)] = [
            (
                .duplicateType(schema: "A", type: "B", context: context),
                #"A: two schemas are named "B": x"#
            ),
            (
                .duplicateProperty(schema: "A", property: "b", context: context),
                #"A: two properties are named "b""#
            ),
            (
                .emptyTypeChoices(schema: "A", context: context),
                "A: there is nothing to choose from"
            ),
            (
                .undefinedReferences(schema: nil, references: ["B", "C"], context: context),
                #"there are no schemas named "B", "C""#
            ),
            (
                .invalidGuide(schema: "A", property: "b", context: context),
                "A.b: a guide cannot be used: x"
            ),
            (
                .endlessRecursion(schema: "A", path: "A.b.a", context: context),
                "A.b.a: each value of A must hold another one"
            ),
            (.tooLarge(schema: "A", limit: 4, context: context), "A: x: the limit is 4"),
        ]
        for (error, text) in all {
            #expect(error.errorDescription == text)
            #expect(error.failureReason != nil && error.recoverySuggestion?.isEmpty == false)
        }
    }
}

private struct Chicken: Listed {
    struct Egg: Listed {
        static var listed: [GenerationSchema.Property] {
            [.init(name: "size", type: Int.self), .init(name: "chicken", type: Chicken.self)]
        }
    }

    static var listed: [GenerationSchema.Property] {
        [.init(name: "name", type: String?.self), .init(name: "egg", type: Egg.self)]
    }
}

private struct Many: Listed {
    static var listed: [GenerationSchema.Property] {
        [.init(name: "items", type: [Many].self, guides: [.minimumCount(1)])]
    }
}

private struct Endless<Value: Sendable>: Listed {
    static var listed: [GenerationSchema.Property] {
        [.init(name: "x", type: [Endless<[Value]>].self)]
    }
}

private struct Expression: Generable {
    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Self.self,
            cases: [
                .init(name: "number", properties: [.init(name: "value", type: Int.self)]),
                .init(
                    name: "sum",
                    properties: [
                        .init(name: "a", type: Expression.self),
                        .init(name: "b", type: Expression.self),
                    ]),
            ])
    }
    var generatedContent: GeneratedContent { GeneratedContent(properties: [:]) }
    init(_ content: GeneratedContent) throws {}
}

/// A part of a regular expression that has no text.
private struct Even: CustomConsumingRegexComponent {
    typealias RegexOutput = Substring

    func consuming(
        _ input: String, startingAt index: String.Index, in bounds: Range<String.Index>
    ) throws -> (upperBound: String.Index, output: Substring)? { nil }
}
