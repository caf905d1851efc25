extension TokenizerDefinition {
    /// Whether the file is a SentencePiece model in tokenizer.json's form: spaces become U+2581
    /// and characters are merged.
    static func spellsSpaces(_ file: TokenizerFile) -> Bool {
        let steps = (file.normalizer?.steps ?? []) + (file.preTokenizer?.steps ?? [])
        return steps.contains(where: \.spellsSpace) && !steps.contains { $0.type == "ByteLevel" }
    }

    /// What the stages of such a file amount to.
    ///
    /// - Throws: `TokenizerError.unsupported` for a stage that none of the published models has.
    static func sentencePieces(
        of file: TokenizerFile, source: String
    ) throws(TokenizerError) -> (
        design: SentencePieces, normalizer: Normalizer, normalizers: [TextNormalizer]
    ) {
        func unsupported(_ feature: TokenizerError.Feature) -> TokenizerError {
            .unsupported(feature, source: source)
        }
        var design = SentencePieces()
        var normalizer = Normalizer.none
        design.fallsBackToBytes = file.model.byteFallback == true
        let isStaged = file.model.type == "Unigram" || !hasUsualNormalizers(file)
        let normalizers = isStaged ? try Self.normalizers(of: file, source: source) : []
        if isStaged { design.cuts = SentencePieces.Cuts() }
        if file.model.type == "Unigram" {
            design.unigram = UnigramEncoding.Scores(values: file.model.scoredPieces.map(\.score))
        }
        for step in isStaged ? [] : file.normalizer?.steps ?? [] {
            switch step.type {
            case "Prepend" where step.prepended == "\u{2581}": design.prefix = .always
            case "Replace" where step.spellsSpace: break
            case Normalizer.composed.rawValue: normalizer = .composed
            default: throw unsupported(.normalizer(step.type))
            }
        }
        for step in file.preTokenizer?.steps ?? [] {
            switch step.type {
            case "Metaspace" where step.spellsSpace:
                design.prefix = try step.prefix(source: source)
                design.keepsGivenPrefix = true
                design.cutsAtEverySpace = step.splits ?? true
                design.cuts?.spellsSpaces = true
            case "WhitespaceSplit" where isStaged && design.cuts?.spellsSpaces == false:
                design.cuts?.dropsWhiteSpace = true
            // Gemma's: no space is left for it to find.
            case "Split" where step.pattern == ["String": " "] && Self.spellsSpaces(file): break
            default: throw unsupported(.preTokenizer(step.type))
            }
        }
        for step in file.decoder?.steps ?? [] {
            switch step.type {
            case "Replace" where step.pattern == ["String": "\u{2581}"] && step.content == " ":
                break
            case "ByteFallback": design.voidsRuns = true
            case "Fuse": break
            case "Strip" where step.content == " " && step.start == 1 && (step.stop ?? 0) == 0:
                design.dropsPrefix = true
            case "Metaspace":
                let prefix = try step.prefix(source: source)
                design.dropsPrefix = prefix != .none
                design.dropsSpacesOfFirst = design.dropsPrefix
            default: throw unsupported(.decoder(step.type))
            }
        }
        return (design, normalizer, normalizers)
    }

    /// Whether each normalizer is one of those that Llama 2 and Gemma have.
    private static func hasUsualNormalizers(_ file: TokenizerFile) -> Bool {
        (file.normalizer?.steps ?? []).allSatisfy {
            $0.spellsSpace || $0.type == Normalizer.composed.rawValue
                || $0.type == "Prepend" && $0.prepended == "\u{2581}"
        }
    }
}

extension TokenizerFile.Stage {
    /// Whether it makes U+2581 of a space.
    fileprivate var spellsSpace: Bool {
        switch type {
        case "Replace": pattern == ["String": " "] && content == "\u{2581}"
        case "Metaspace": replacement ?? "\u{2581}" == "\u{2581}"
        default: false
        }
    }

    /// Where a Metaspace puts a space.
    fileprivate func prefix(
        source: String
    ) throws(TokenizerError) -> TokenizerDefinition.SentencePieces.Prefix {
        switch prependScheme {
        case nil: return addsPrefixSpace ?? true ? .always : .none
        case "always"?: return .always
        case "first"?: return .first
        case "never"?: return .none
        case let scheme?:
            throw .unsupported(.option(name: "prepend_scheme", value: scheme), source: source)
        }
    }
}
