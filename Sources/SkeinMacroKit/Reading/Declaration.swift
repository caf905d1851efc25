/// A declaration as it is written, before it is known whether it can be generated.
struct Declaration {
    /// `struct`, `enum`, `actor`, `class`, ...
    var keyword = ""
    var name = Name("")
    var nameOffset = 0
    /// `public`, `package`, ... or nothing.
    var access = ""
    /// Where `<` stands.
    var genericOffset: Int?
    var inherited: [String] = []
    var properties: [Property] = []
    var cases: [Case] = []
    /// The functions, initialisers and types of the body.
    var members: [Member] = []
    /// Where the first `#if` of the body stands.
    var conditionOffset: Int?
    /// Where guides stand that are on no property.
    var strayGuides: [Int] = []

    /// `@Name(label: argument)`.
    struct Attribute {
        /// Without the module.
        var name: String
        var arguments: [Argument]
        var offset: Int
    }

    /// An argument of an attribute.
    struct Argument {
        var label: String?
        /// As it is written.
        var source: String
        /// The same with each pattern in slashes replaced by its text: see `PatternArgument`.
        var guide: String
        /// Where a pattern of several lines stands.
        var longPattern: Int?
        var offset: Int
    }

    struct Property {
        enum Storage { case stored, computed, lazy, ofType }

        var name: Name
        /// Nil where it is left to the compiler.
        var type: TypeText?
        var isConstant: Bool
        var hasValue: Bool
        var storage: Storage
        /// `public`, `private`, ... or nothing.
        var access: String
        var attributes: [Attribute]
        var offset: Int
    }

    struct Case {
        var name: Name
        /// The raw value as it is written.
        var rawValue: String?
        var values: [Value]
        var offset: Int
    }

    /// A function, an initialiser, or a type or its alias.
    struct Member {
        /// `func`, `init`, `struct`, `typealias`, ...
        var keyword: String
        /// `init` for an initialiser.
        var name: Name
        /// `static` or `class`.
        var isOfType: Bool
        var parameters: [Value] = []
        var offset: Int

        var isType: Bool { keyword != "func" && keyword != "init" }
    }

    /// A value that goes with a case, or a parameter.
    struct Value {
        var label: Name?
        var type: TypeText
        var offset: Int
    }
}

/// A type as it is written, and what its outermost form is.
struct TypeText {
    enum Form { case named, tuple, function }

    /// Without the question marks at its end, or the `Optional<>` around it.
    var wrapped: String
    /// How often it is optional.
    var optionals: Int
    var form: Form
    /// The words in it, without those behind a point.
    var names: Set<String> = []

    var isOptional: Bool { optionals > 0 }
}
