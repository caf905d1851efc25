import SkeinBasics
import SkeinFormats

// Adapters of other tools name their base model, and say no more of it.
extension LoadedAdapter {
    /// Says that an adapter names another base model than the one it is used with. Adapters of Skein are
    /// checked by the model's bytes instead (`check`).
    ///
    /// - Parameter model: the base model.
    /// - Returns: a sentence; nil if the names are alike, or the adapter has none.
    package func otherBaseName(than model: ModelDirectory) -> String? {
        guard configuration.origin == nil,
            let named = Self.otherName(nil, configuration.baseModelName, than: model)
        else { return nil }
        return
            "the adapter \(path) says that its base model is \(ForeignText.shown(named)), and this "
            + "model is called \(BaseModelName(path: model.path).name): unless they are the same "
            + "model, it will not answer as it learned to"
    }

    /// The name of an adapter's base model, if the model at hand has another one.
    ///
    /// - Parameters:
    ///   - origin: of an adapter of Skein.
    ///   - name: of the base model; may be empty.
    ///   - model: at hand.
    /// - Returns: nil: the names are alike, or the adapter has none.
    static func otherName(
        _ origin: AdapterOrigin?, _ name: String, than model: ModelDirectory
    ) -> String? {
        let named = origin?.base.name ?? name
        let found = BaseModelName(path: model.path)
        let own = [found.name, found.file, model.raw.statedName].compactMap(\.self)
        return named.isEmpty || own.contains { isAlike(named, $0) } ? nil : named
    }

    /// Whether two names may well be of one model: both end in the same name, apart from what says how
    /// the numbers are kept.
    static func isAlike(_ first: String, _ second: String) -> Bool {
        let (first, second) = (words(of: first), words(of: second))
        return first == second
    }

    /// The words of a name without those that say how the numbers are kept.
    private static func words(of name: String) -> [Substring] {
        var text = FilePath.name(of: name).lowercased()
        if text.hasSuffix(".gguf") { text.removeLast(".gguf".count) }
        let words = text.split { "-_. ".contains($0) }
        // Parts of one file, such as 00001-of-00002, are not the name either.
        let end = words.dropFirst().firstIndex(where: isKind) ?? words.endIndex
        return Array(words[..<end])
    }

    private static func isKind(_ word: Substring) -> Bool {
        let names: Set<Substring> = [
            "gguf", "mlx", "hf", "bnb", "unsloth", "awq", "gptq", "int4", "int8", "fp8", "fp16",
            "fp32",
            "f16", "f32", "bf16", "4bit", "8bit", "imat", "imatrix", "i1", "ud",
        ]
        if names.contains(word) { return true }
        let digits =
            word.hasPrefix("iq") ? word.dropFirst(2) : word.hasPrefix("q") ? word.dropFirst() : ""
        return digits.first?.isNumber == true
    }
}
