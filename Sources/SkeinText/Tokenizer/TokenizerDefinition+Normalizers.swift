import Foundation

extension TokenizerDefinition {
    /// What the normalizers of a tokenizer.json do, in order.
    ///
    /// - Throws: `TokenizerError.unsupported` for one that is not known, for too many, and for those
    ///   that together could make a text grow beyond bounds.
    static func normalizers(
        of file: TokenizerFile, source: String
    ) throws(TokenizerError) -> [TextNormalizer] {
        var steps: [TextNormalizer] = []
        let stages = file.normalizer?.steps ?? []
        guard stages.count <= TokenizerLimits.normalizers else {
            throw .unsupported(
                .option(name: "normalizers", value: "\(stages.count)"), source: source)
        }
        var growth = 1
        for stage in stages {
            let step = try TextNormalizer(stage, source: source)
            growth *= step.growth
            guard growth <= TokenizerLimits.normalizerGrowth else {
                throw .unsupported(
                    .option(name: "normalizers", value: "\(stage.type) after others"),
                    source: source)
            }
            steps.append(step)
        }
        return steps
    }

    /// The token that the post-processor of a tokenizer.json puts before a text. What it would put
    /// behind is left out: a prompt goes on, and training ends each text itself.
    ///
    /// - Throws: `TokenizerError.unsupported` for a post-processor that is not known.
    static func firstToken(
        of file: TokenizerFile, source: String
    ) throws(TokenizerError) -> String? {
        for step in file.postProcessor?.steps ?? [] {
            switch step.type {
            case "TemplateProcessing":
                return step.single?.first?.token?.id
            case "BertProcessing", "RobertaProcessing": return step.firstToken?.piece
            // Those in a sequence before it change offsets only.
            default: continue
            }
        }
        return nil
    }
}

extension TextNormalizer {
    /// Reads a normalizer.
    ///
    /// - Throws: `TokenizerError` for one that is damaged or not known.
    fileprivate init(_ stage: TokenizerFile.Stage, source: String) throws(TokenizerError) {
        func missing(_ field: String) -> TokenizerError {
            .invalid(.missingValue(path: "normalizer.\(stage.type).\(field)"), source: source)
        }
        if let form = Form(rawValue: stage.type) {
            self = .form(form)
            return
        }
        switch stage.type {
        case "Lowercase": self = .lowercase
        case "StripAccents": self = .stripAccents
        case "Nmt": self = .nmt
        case "Strip":
            self = .strip(left: stage.stripsLeft ?? true, right: stage.stripsRight ?? true)
        case "Prepend":
            guard let prefix = stage.prepended else { throw missing("prepend") }
            try Self.check(prefix, "Prepend", source)
            self = .prepend(Array(prefix.utf8))
        case "Replace":
            guard let content = stage.content else { throw missing("content") }
            try Self.check(content, "Replace", source)
            if let literal = stage.pattern?["String"] {
                try Self.check(literal, "Replace", source)
                self = .replace(TextPattern(literal: literal), Array(content.utf8))
            } else if let expression = stage.pattern?["Regex"] {
                try Self.check(expression, "Replace", source)
                do throws(ExpressionFlaw) {
                    self = .replace(
                        try TextPattern(expression: expression), Array(content.utf8))
                } catch {
                    throw .unsupported(.expression(expression, error), source: source)
                }
            } else {
                throw missing("pattern")
            }
        case "Precompiled":
            guard let text = stage.characterMap else { throw missing("precompiled_charsmap") }
            guard let map = Data(base64Encoded: text).flatMap({ CharacterMap($0) }) else {
                throw .invalid(.malformedCharacterMap, source: source)
            }
            self = .characters(map)
        default: throw .unsupported(.normalizer(stage.type), source: source)
        }
    }

    private static func check(
        _ text: String, _ type: String, _ source: String
    ) throws(TokenizerError) {
        let limit = TokenizerLimits.replacementBytes
        guard text.utf8.count <= limit else {
            throw .invalid(
                .wrongType(
                    path: "normalizer.\(type)", expected: "a text of at most \(limit) bytes"),
                source: source)
        }
    }
}
