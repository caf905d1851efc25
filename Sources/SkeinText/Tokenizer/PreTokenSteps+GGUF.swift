/// What llama.cpp means by the names in `tokenizer.ggml.pre` that have no scanner here: expressions
/// whose matches are cut out one after the other.
///
/// Where a model's own tokenizer.json has the expression in another spelling, it is that one. Not
/// here, and so refused by name: "default" and "whitespace", the names of models that are not of
/// bytes (gemma4, sarvam-moe, granite-embed-multi-311m), and afmoe, whose digits take a rule that
/// is no expression.
extension PreTokenSteps {
    private enum Cut {
        case known(PreTokenizer)
        case expression(String)
    }

    private static let gguf: [(names: [String], cuts: [Cut])] = [
        (
            [
                "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "glm4",
                "chatglm-bpe",
            ], [.known(.llama3)]
        ),
        (
            [
                "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum",
                "modern-bert", "jina-v1-en", "jina-v2-code", "roberta-bpe", "mpt", "jais",
                "exaone4", "trillion", "granite-docling",
            ], [.known(.gpt2)]
        ),
        (
            ["command-r", "codeshell", "exaone", "minerva-7b", "mellum2"],
            [.expression(#"\p{N}"#), .known(.gpt2)]
        ),
        (
            ["stablelm2", "kormo", "f2llmv2", "megrez", "hunyuan", "solar-open", "grok-2"],
            [.known(.qwen2)]
        ),
        (["llama4", "kanana2", "talkie", "minimax-m2"], [.known(.o200k)]),
        (["granite-embed-multi-97m"], [.known(.o200k)]),
        (["tiny_aya", "cohere2moe"], [.expression(#"\d{1,3}(?=(?:\d{3})*\b)"#), .known(.o200k)]),
        (["qwen35"], [.expression(qwen35)]),
        (
            ["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"],
            [.expression(#"\p{N}{1,3}"#), .expression(kanaAndHan), .expression(deepSeek3)]
        ),
        (
            ["spark2_5"],
            [
                .expression(#"\p{N}{1,3}"#), .expression(kanaAndHan),
                .expression(deepSeekWords + #"| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+"#),
                .expression(#"\p{N}"#),
            ]
        ),
        (
            ["deepseek-llm"],
            [
                .expression("[\r\n]"), .expression(#"\s?["# + deepSeekLetters + "]+"),
                .expression(#"\s?[!-/:-~！-／：-～‘-‟　-。]+"#), .expression(#"\s+$"#),
                .expression("[一-龥ࠀ-一가-퟿]+"), .expression(#"\p{N}+"#),
            ]
        ),
        (
            ["deepseek-coder"],
            [
                .expression("[\r\n]"), .expression(#"\s?\p{L}+"#), .expression(#"\s?\p{P}+"#),
                .expression("[一-龥ࠀ-一가-퟿]+"), .expression(#"\p{N}"#),
            ]
        ),
        (
            ["youtu"],
            [
                .expression(
                    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+"),
                .expression(cased(#"\p{L}\p{N}"#, "", numbers: #"\p{N}"#, ends: #"[\r\n/]*"#)),
            ]
        ),
        (
            ["falcon"],
            [
                .expression(#"[\p{P}\$\+<=>\^~\|`]+"#), .known(.gpt2),
                .expression("[0-9][0-9][0-9]"),
            ]
        ),
        (["poro-chat", "bloom", "gpt3-finnish"], [.expression(bloom)]),
        (["viking"], [.expression(bloom), .expression(#"\p{N}"#)]),
        (
            ["chameleon"],
            [
                .expression("<sentinel:[0-9]+>"),
                .expression("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
                .expression(#"([\t\n]|    |  )"#), .expression(#"\p{N}"#),
                .expression(#"[\p{P}!-/:-@\[-`{-~]"#), .known(.gpt2),
            ]
        ),
        (["jais-2"], [.expression(jais2)]),
        (["superbpe"], [.expression(#"\p{N}+"#), .expression(#"(?=(\d{3})+(?!\d))"#)]),
        (
            ["bailingmoe", "bailingmoe2", "llada-moe"],
            [
                .expression(
                    #"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}|"#
                        + #" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"#)
            ]
        ),
        (
            ["seed-coder"],
            [
                .expression(
                    contraction + #"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}|"#
                        + #" ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"#)
            ]
        ),
        (
            ["ufakzeka"],
            [.expression(#"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"# + others + "|" + spaces)]
        ),
        (["laguna"], [.expression(#"[^\n]+|[\n]+"#), .known(.qwen2)]),
        (
            ["exaone-moe"],
            [
                .expression(
                    contraction
                        + #"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|"#
                        + #" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"#)
            ]
        ),
        (
            ["minicpm5"],
            [
                .expression(#"\p{N}{1,3}"#),
                .expression(
                    contraction + #"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|"# + others + "|" + spaces),
            ]
        ),
        (
            ["kimi-k2"],
            [
                .expression(
                    #"[\p{Han}]+|"#
                        + cased(
                            #"\p{L}\p{N}"#, #"&&[^\p{Han}]"#, numbers: #"\p{N}{1,3}"#,
                            ends: #"[\r\n]*"#))
            ]
        ),
    ]

    private static let contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    private static let others = #" ?[^\s\p{L}\p{N}]+[\r\n]*"#
    private static let spaces = #"\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static let kanaAndHan = "[一-龥぀-ゟ゠-ヿ]+"
    private static let bloom = #" ?[^(\s|.,!?…。，、।۔،)]+"#

    private static let qwen35 =
        contraction + #"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|"#
        + #" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"# + spaces

    private static let deepSeekWords =
        ##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"##
        + #"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"#

    private static let deepSeek3 = deepSeekWords + #"| ?[\p{P}\p{S}]+[\r\n]*|"# + spaces

    private static let jais2 =
        contraction + #"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"# + others + #"|\s*[\r\n]+|"#
        + [512, 256, 128, 64, 32, 16, 8, 4].map { #"\s{\#($0)}(?!\S)|"# }.joined()
        + #"\s{1,2}(?!\S)|\s{1}"#

    /// What normalization form C would change is written as numbers.
    private static let deepSeekLetters =
        #"A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕ"#
        + #"Ἐ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ\x{1F5F}-\x{1F7D}ᾀ-ᾴᾶ-ᾼ\x{1FBE}ῂ-ῄῆ-ῌῐ-\x{1FD3}ῖ-\x{1FDB}ῠ-Ῥῲ-ῴῶ-ῼℂℇ"#
        + #"ℊ-ℓℕℙ-ℝℤ\x{2126}ℨ\x{212A}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ"#
        + "𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"

    /// GPT-4o's expression with letters but those in `removed`.
    private static func cased(
        _ excluded: String, _ removed: String, numbers: String, ends: String
    ) -> String {
        let prefix = #"[^\r\n"# + excluded + "]?"
        let capitals = #"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"# + removed + "]"
        let small = #"[\p{Ll}\p{Lm}\p{Lo}\p{M}"# + removed + "]"
        return "\(prefix)\(capitals)*\(small)+\(contraction)?|"
            + "\(prefix)\(capitals)+\(small)*\(contraction)?|"
            + numbers + #"| ?[^\s\p{L}\p{N}]+"# + ends + "|" + spaces
    }

    static var namesInGGUF: [String] { gguf.flatMap(\.names) }

    /// The steps that `name` means in a GGUF file, or nil.
    init?(gguf name: String) throws(TokenizerError) {
        guard let entry = Self.gguf.first(where: { $0.names.contains(name) }) else { return nil }
        self.init()
        for cut in entry.cuts {
            switch cut {
            case .known(let preTokenizer): steps.append(PreTokenStep(known: preTokenizer))
            case .expression(let pattern):
                do throws(ExpressionFlaw) {
                    steps.append(PreTokenStep(try Expression(pattern), name: "r" + pattern))
                } catch {
                    throw .unsupported(.expression(pattern, error), source: "GGUF metadata")
                }
            }
        }
    }
}
