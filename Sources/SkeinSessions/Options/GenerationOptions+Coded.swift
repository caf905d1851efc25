import SkeinBasics
import SkeinGrammar
import SkeinJSON

/// The coded form leaves out what is nil; sampling is `{"type":"greedy"}` or `{"type":"random"}`
/// with `top` or `probabilityThreshold`, and `seed`.
extension GenerationOptions: Codable {
    /// Reads the coded form.
    ///
    /// - Parameter decoder: of any format.
    /// - Throws: `TranscriptError` for unknown keys and values out of range; what the decoder
    ///   throws.
    public init(from decoder: any Decoder) throws {
        try self.init(coded: JSONValue(coded: decoder), at: "options")
    }

    /// Writes the coded form.
    ///
    /// - Parameter encoder: of any format.
    /// - Throws: `OptionsError` for values out of range; what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try JSONCoded(coded()).encode(to: encoder)
    }

    func coded() throws(OptionsError) -> JSONValue {
        try check()
        return .fields([
            "samplingMode": samplingMode?.coded,
            "temperature": temperature.map { .number("\($0)") },
            "maximumResponseTokens": maximumResponseTokens.map { .number("\($0)") },
            "toolCallingMode": (toolCallingMode?.rawValue).map { .text($0) },
            "closesAtLimit": closesAtLimit ? .bool(true) : nil,
        ])
    }

    init(coded value: JSONValue, at place: String) throws(TranscriptError) {
        let object = try CodedObject(
            value, at: place, required: [],
            optional: [
                "samplingMode", "temperature", "maximumResponseTokens", "toolCallingMode",
                "closesAtLimit",
            ])
        var mode: ToolCallingMode?
        if let name = try object.text("toolCallingMode") {
            mode = ToolCallingMode(rawValue: name)
            guard mode != nil else {
                throw object.wrong("toolCallingMode", "allowed, required or disallowed")
            }
        }
        self.init(
            samplingMode: try object.value("samplingMode") { value, place throws(TranscriptError) in
                try SamplingMode(coded: value, at: place)
            },
            temperature: try object.number("temperature"),
            maximumResponseTokens: try object.integer("maximumResponseTokens"),
            toolCallingMode: mode, closesAtLimit: try object.flag("closesAtLimit") ?? false)
        do {
            try check()
        } catch {
            throw .wrongValue(place: place, expected: "in its range: \(error.explanation.what)")
        }
    }
}

extension GenerationOptions.SamplingMode: Codable {
    /// Reads the coded form.
    ///
    /// - Parameter decoder: of any format.
    /// - Throws: `TranscriptError` for unknown keys and values; what the decoder throws.
    public init(from decoder: any Decoder) throws {
        try self.init(coded: JSONValue(coded: decoder), at: "samplingMode")
    }

    /// Writes the coded form.
    ///
    /// - Parameter encoder: of any format.
    /// - Throws: `OptionsError` for values out of range; what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try check()
        try JSONCoded(coded).encode(to: encoder)
    }

    var coded: JSONValue {
        var top: Int?
        var threshold: Double?
        switch kind {
        case .greedy, .random: break
        case .top(let count): top = count
        case .threshold(let share): threshold = share
        }
        return .fields([
            "type": .text(kind == .greedy ? "greedy" : "random"),
            "top": top.map { .number("\($0)") },
            "probabilityThreshold": threshold.map { .number("\($0)") },
            "temperature": temperature.map { .number("\($0)") },
            "seed": seed.map { .number("\($0)") },
        ])
    }

    init(coded value: JSONValue, at place: String) throws(TranscriptError) {
        let object = try CodedObject(
            value, at: place, required: ["type"],
            optional: ["top", "probabilityThreshold", "temperature", "seed"])
        let top = try object.integer("top")
        let threshold = try object.number("probabilityThreshold")
        let kind: Kind
        switch (try object.text("type"), top, threshold) {
        case ("greedy", nil, nil): kind = .greedy
        case ("random", nil, nil): kind = .random
        case ("random", let count?, nil): kind = .top(count)
        case ("random", nil, let share?): kind = .threshold(share)
        default:
            throw .wrongValue(
                place: place,
                expected: "greedy, or random with at most one of top and probabilityThreshold")
        }
        self.init(
            kind: kind, seed: try object.seed("seed"),
            temperature: try object.number("temperature"))
    }
}
