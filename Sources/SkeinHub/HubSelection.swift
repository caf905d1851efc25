/// Which files of a repository a model needs. Pure.
package enum HubSelection {
    /// The files to download; weights come last, so that a folder with all weights is whole.
    ///
    /// - Parameters:
    ///   - files: Paths of all files of the repository.
    ///   - reference: Which model, and which file of it.
    /// - Returns: Paths among `files`.
    /// - Throws: `HubError.noFile`, `.onlyGGUF`, `.noWeights`.
    package static func files(
        of files: [String], for reference: HubReference
    ) throws(HubError) -> [String] {
        let repository = reference.repository
        if let file = reference.file {
            let known = Set(files)
            let wanted = parts(of: file)
            for part in wanted where !known.contains(part) {
                throw .noFile(repository: repository, file: part)
            }
            return wanted
        }
        // A model's own folder; others hold other formats, such as onnx/ and original/.
        let here = files.filter { !$0.contains("/") }.sorted()
        let weights = here.filter { $0.hasSuffix(".safetensors") }
        if weights.isEmpty {
            let gguf = files.filter { $0.hasSuffix(".gguf") }.sorted()
            throw gguf.isEmpty
                ? .noWeights(repository: repository)
                : .onlyGGUF(repository: repository, files: Array(gguf.prefix(30)))
        }
        // `consolidated.safetensors` has the same weights again, by other names.
        let named = weights.filter { $0.hasPrefix("model") }
        let chosen = named.isEmpty ? weights : named
        return here.filter(isText) + chosen
    }

    private static func isText(_ name: String) -> Bool {
        let names: Set = [
            "config.json", "generation_config.json", "merges.txt", "vocab.json", "vocab.txt",
            "special_tokens_map.json", "added_tokens.json", "tekken.json",
            "preprocessor_config.json", "processor_config.json",
        ]
        return names.contains(name) || name.hasSuffix(".safetensors.index.json")
            || name.hasPrefix("tokenizer") || name.hasPrefix("chat_template")
            || name.hasSuffix(".model") || name.hasSuffix(".tiktoken")
    }

    /// All parts of a GGUF model: `a-00001-of-00003.gguf` has three.
    static func parts(of file: String) -> [String] {
        guard let match = file.wholeMatch(of: /(.*)-([0-9]{5})-of-([0-9]{5})(\.[a-z]+)/),
            let count = Int(match.3), (1...Limits.ggufParts).contains(count)
        else { return [file] }
        return (1...count).map { number in
            let digits = String(number)
            let padded = String(repeating: "0", count: 5 - digits.count) + digits
            return "\(match.1)-\(padded)-of-\(match.3)\(match.4)"
        }
    }
}
