import SkeinGrammar
import SkeinInference
import SkeinJSON

/// What an answer must be: any text, or what a schema or an expression allows.
enum AnswerForm: Sendable, Equatable {
    case text
    /// A schema or an expression, and where the request has it.
    case form(GrammarForm, place: String)

    /// OpenAI's `response_format`, vLLM's `structured_outputs` and `guided_json`, `guided_regex`,
    /// `guided_choice`, and llama-server's `json_schema`.
    init(_ fields: FieldReader) throws(APIError) {
        self = .text
        if let format = try fields.object("response_format") {
            self = try Self.responseFormat(format)
        }
        var given: [(value: JSONValue?, kind: String, place: String)] = []
        if let other = try fields.object("structured_outputs") {
            try Self.check(other)
            let isObject = try other.bool("json_object") ?? false
            given = ["json", "regex", "choice"].map { (other[$0], $0, other.place($0)) }
            given.append((isObject ? .object([]) : nil, "object", other.place("json_object")))
        }
        given += ["json", "regex", "choice"].map { (fields["guided_\($0)"], $0, "guided_\($0)") }
        given.append((fields["json_schema"], "json", "json_schema"))
        for (value, kind, place) in given {
            guard let value else { continue }
            guard self == .text else {
                throw .invalid(place, "\(place) and another form of the answer exclude each other")
            }
            switch kind {
            case "object": self = .lenient(Self.anyObject, place)
            case "json":
                // Some clients send the schema as text.
                self = .lenient(Array((value.string ?? value.written).utf8), place)
            case "regex":
                guard let text = value.string else {
                    throw .invalid(place, "\(place) is a regular expression")
                }
                self = .form(.expression(text), place: place)
            default: self = .form(.expression(try Self.choice(value, place)), place: place)
            }
        }
    }

    private static func lenient(_ schema: [UInt8], _ place: String) -> AnswerForm {
        .form(.schema(schema, .lenient), place: place)
    }

    private static let anyObject = Array(#"{"type":"object"}"#.utf8)

    /// Refuses what vLLM's `structured_outputs` may ask for and cannot be done here.
    private static func check(_ fields: FieldReader) throws(APIError) {
        let unsupported: [(name: String, remedy: String)] = [
            ("grammar", "use regex or json"), ("structural_tag", "use tools"),
            ("whitespace_pattern", "values have at most one space after : and ,"),
        ]
        for (name, remedy) in unsupported where fields[name] != nil {
            throw .invalid(
                fields.place(name), "\(fields.place(name)) is not supported: \(remedy)",
                code: "unsupported")
        }
        for (name, remedy) in [
            ("disable_any_whitespace", "values have at most one space after : and ,"),
            ("disable_additional_properties", "write additionalProperties: false in the schema"),
        ] where try fields.bool(name) == true {
            throw .invalid(
                fields.place(name), "\(fields.place(name)) is not supported: \(remedy)",
                code: "unsupported")
        }
    }

    /// OpenAI's; llama-server and others put a schema beside `json_object`, too.
    private static func responseFormat(_ format: FieldReader) throws(APIError) -> AnswerForm {
        switch try format.string("type") {
        case "text": return .text
        case "json_object":
            guard let schema = format["schema"] else {
                return .lenient(anyObject, "response_format")
            }
            return .lenient(Array(schema.written.utf8), "response_format.schema")
        case "json_schema":
            let named = try format.object("json_schema")
            if let named, let schema = named["schema"] {
                let isStrict = try named.bool("strict") ?? false
                return .form(
                    .schema(Array(schema.written.utf8), isStrict ? .strict : .lenient),
                    place: "response_format.json_schema.schema")
            }
            if named == nil, let schema = format["schema"] {
                return .lenient(Array(schema.written.utf8), "response_format.schema")
            }
            throw .invalid(
                "response_format.json_schema.schema",
                "response_format.json_schema has a name and a schema")
        default: throw format.wrong("type", "text, json_object or json_schema")
        }
    }

    /// One of these texts, as a regular expression.
    private static func choice(_ value: JSONValue, _ place: String) throws(APIError) -> String {
        guard let items = value.list, !items.isEmpty else {
            throw .invalid(place, "\(place) is a list of texts")
        }
        var words: [String] = []
        for item in items {
            guard let text = item.string else {
                throw .invalid(place, "\(place) is a list of texts")
            }
            words.append(
                String(
                    text.unicodeScalars.reduce(into: String.UnicodeScalarView()) { out, scalar in
                        if #"\^$.*+?()[]{}|/-"#.unicodeScalars.contains(scalar) { out.append("\\") }
                        out.append(scalar)
                    }))
        }
        return "(?:" + words.joined(separator: "|") + ")"
    }

    /// What its grammar is compiled of; nil for any text.
    var grammar: GrammarForm? { if case .form(let form, _) = self { form } else { nil } }

    /// What a grammar of this form leaves out of its schema.
    func dropped(by grammar: CompiledGrammar) -> DroppedParts {
        guard case .form(.schema, let place) = self else { return DroppedParts() }
        return DroppedParts(
            places: grammar.dropped.map { "\(place)#\($0.pointer)" }, count: grammar.droppedCount)
    }

    /// The same without the schema or the expression, for as long as an answer takes.
    var withoutText: AnswerForm {
        switch self {
        case .text: .text
        case .form(.schema(_, let mode), let place): .form(.schema([], mode), place: place)
        case .form(.expression, let place): .form(.expression(""), place: place)
        }
    }

    /// An error of the form's own, with the place in the request.
    func problem(_ error: GrammarError) -> APIError {
        switch self {
        case .form(.schema, let place) where error != .full:
            APIError(form: error.explanation, param: place)
        case .form(.expression, let place) where error != .full:
            APIError(form: error.explanation(of: "expression"), param: place)
        default: APIError(error)
        }
    }
}
