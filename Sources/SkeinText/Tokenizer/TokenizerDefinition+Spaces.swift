extension TokenizerDefinition.Spaces {
    /// How a tokenizer.json replaces spaces; nil when it does not: then it is one of bytes.
    ///
    /// Llama 2, Phi-3 and Mistral have the normalizers Prepend and Replace or the pre-tokenizer
    /// Metaspace; Gemma has Replace, and a Split at spaces that finds none any more.
    ///
    /// - Throws: `TokenizerError` for stages that do something else besides.
    init?(_ file: TokenizerFile, source: String) throws(TokenizerError) {
        func unsupported(_ feature: TokenizerError.Feature) -> TokenizerError {
            .unsupported(feature, source: source)
        }
        self.init()
        let normalizers = file.normalizer?.steps ?? []
        let preTokenizers = file.preTokenizer?.steps ?? []
        var isReplaced = false
        for step in normalizers {
            switch step.type {
            case "Prepend":
                guard step.prepended == Self.replacement else {
                    throw unsupported(.option(name: "prepend", value: step.prepended ?? ""))
                }
                prefix = .always
                doublesPrefix = true
            case "Replace":
                guard step.pattern?["String"] == " ", step.content == Self.replacement else {
                    throw unsupported(.normalizer("Replace"))
                }
                isReplaced = true
            default: continue
            }
        }
        for step in preTokenizers {
            switch step.type {
            case "Metaspace":
                guard !isReplaced, (step.replacement ?? Self.replacement) == Self.replacement else {
                    throw unsupported(
                        .option(name: "replacement", value: step.replacement ?? Self.replacement))
                }
                isReplaced = true
                isNormalization = false
                prefix = try Self.prefix(step, source: source)
                cutsAtEach = step.splits ?? true
            case "Split" where isReplaced && step.pattern?["String"] == " ": continue
            default:
                guard !isReplaced else { throw unsupported(.preTokenizer(step.type)) }
            }
        }
        guard isReplaced else {
            guard prefix == .never else { throw unsupported(.normalizer("Prepend")) }
            return nil
        }
        try readDecoder(file.decoder?.steps ?? [], source: source)
    }

    private static let replacement = "\u{2581}"

    /// Metaspace's prepend_scheme, or add_prefix_space of older files.
    private static func prefix(
        _ step: TokenizerFile.Stage, source: String
    ) throws(TokenizerError) -> Prefix {
        guard let scheme = step.prependScheme else {
            return step.addsPrefixSpace ?? true ? .always : .never
        }
        guard let prefix = Prefix(rawValue: scheme) else {
            throw .unsupported(.option(name: "prepend_scheme", value: scheme), source: source)
        }
        return prefix
    }

    /// What decodes "▁" and "<0x0A>", and whether a first space goes.
    private mutating func readDecoder(
        _ steps: [TokenizerFile.Stage], source: String
    ) throws(TokenizerError) {
        for step in steps {
            switch step.type {
            case "Replace", "ByteFallback", "Fuse": continue
            case "Metaspace": stripsFirst = try Self.prefix(step, source: source) != .never
            case "Strip":
                guard step.content == " ", step.start == 1, step.stop ?? 0 == 0 else {
                    throw .unsupported(.decoder("Strip"), source: source)
                }
                stripsFirst = true
            default: throw .unsupported(.decoder(step.type), source: source)
            }
        }
    }
}
