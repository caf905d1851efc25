import SkeinBasics

extension PreTokenSteps {
    /// Reads the stages of a tokenizer.json that has one ByteLevel among them.
    ///
    /// - Throws: `TokenizerError.unsupported` that names what is not known.
    init(_ stages: [TokenizerFile.Stage], source: String) throws(TokenizerError) {
        self.init()
        func unsupported(_ feature: TokenizerError.Feature) -> TokenizerError {
            .unsupported(feature, source: source)
        }
        let kinds = stages.map(\.type)
        guard !stages.isEmpty else { throw unsupported(.preTokenizer(nil)) }
        guard stages.count <= TokenizerLimits.preTokenSteps else {
            throw unsupported(.preTokenizer("Sequence of \(stages.count)"))
        }
        var isSpelled = false
        for stage in stages {
            if stage.type == "ByteLevel" {
                guard !isSpelled else { throw unsupported(.preTokenizer("ByteLevel twice")) }
                isSpelled = true
                addsPrefixSpace = stage.addsPrefixSpace ?? true
                cutsAsGPT2 = stage.usesRegex ?? true
                continue
            }
            let found = try Self.steps(of: stage, source: source)
            if isSpelled { spelledSteps += found } else { steps += found }
        }
        guard isSpelled else { throw unsupported(.preTokenizer(kinds.joined(separator: " + "))) }
    }

    /// The steps that a stage other than ByteLevel stands for.
    private static func steps(
        of stage: TokenizerFile.Stage, source: String
    ) throws(TokenizerError) -> [PreTokenStep] {
        do {
            switch stage.type {
            case "Split": return [try split(stage, source: source)]
            case "Digits":
                let behavior: PreTokenStep.Behavior =
                    stage.isolatesDigits == true ? .isolated : .contiguous
                return [try one(.isolatedDigits, stage, behavior)]
            case "Punctuation":
                let behavior = try behavior(stage, usual: .isolated, source: source)
                return [try one(.punctuation, stage, behavior)]
            case "WhitespaceSplit": return [try one(.whiteSpace, stage, .removed)]
            case "BertPreTokenizer":
                return [
                    try one(.whiteSpace, stage, .removed), try one(.punctuation, stage, .isolated),
                ]
            case "Whitespace":
                let others = ScalarSet.joinedWord.union(.whiteSpace).inverted
                let runs = [ScalarSet.joinedWord, others].map {
                    ExpressionNode.repeated(.set($0), least: 1, most: nil, .greedy)
                }
                return [
                    PreTokenStep(
                        try Expression(.alternatives(runs)), name: stage.type, .removed,
                        isInverted: true)
                ]
            case "CharDelimiterSplit":
                guard let delimiter = stage.delimiter,
                    let scalar = delimiter.unicodeScalars.first,
                    delimiter.unicodeScalars.count == 1
                else {
                    throw ExpressionFlaw.construct(stage.delimiter ?? "", at: 0)
                }
                return [
                    PreTokenStep(
                        try Expression(.set(ScalarSet(scalar.value))),
                        name: "\(stage.type) \(delimiter)", .removed)
                ]
            default:
                throw TokenizerError.unsupported(.preTokenizer(stage.type), source: source)
            }
        } catch let flaw as ExpressionFlaw {
            let text = stage.pattern?.values.first ?? stage.type
            throw .unsupported(.expression(text, flaw), source: source)
        } catch let error as TokenizerError {
            throw error
        } catch {
            throw .unsupported(.preTokenizer(stage.type), source: source)
        }
    }

    /// A step that matches single characters.
    private static func one(
        _ set: ScalarSet, _ stage: TokenizerFile.Stage, _ behavior: PreTokenStep.Behavior
    ) throws(ExpressionFlaw) -> PreTokenStep {
        PreTokenStep(try Expression(.set(set)), name: stage.type, behavior)
    }

    private static func behavior(
        _ stage: TokenizerFile.Stage, usual: PreTokenStep.Behavior?, source: String
    ) throws(TokenizerError) -> PreTokenStep.Behavior {
        if stage.behavior == nil, let usual { return usual }
        guard let behavior = PreTokenStep.Behavior(rawValue: stage.behavior ?? "") else {
            throw .unsupported(
                .option(name: "behavior", value: stage.behavior ?? ""), source: source)
        }
        return behavior
    }

    private static func split(
        _ stage: TokenizerFile.Stage, source: String
    ) throws -> PreTokenStep {
        let behavior = try behavior(stage, usual: nil, source: source)
        let isInverted = stage.isInverted ?? false
        if let text = stage.pattern?["String"] {
            return PreTokenStep(
                try Expression(literal: text), name: "s" + text, behavior, isInverted: isInverted)
        }
        guard let pattern = stage.pattern?["Regex"] else {
            throw TokenizerError.unsupported(.preTokenizer("Split"), source: source)
        }
        // The known ones match everything: keeping the matches is isolating them.
        let isIsolating = isInverted ? behavior == .removed : behavior == .isolated
        if isIsolating, let known = PreTokenizer(pattern: pattern) {
            return PreTokenStep(known: known)
        }
        return PreTokenStep(
            try Expression(pattern), name: "r" + pattern, behavior, isInverted: isInverted)
    }
}
