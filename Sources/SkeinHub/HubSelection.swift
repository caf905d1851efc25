/// Which files of a repository a model or an adapter needs. Pure.
package enum HubSelection {
    private static let configuration = "adapter_config.json"
    /// PEFT's and mlx-lm's. A folder with both gives PEFT's: its one configuration belongs to only
    /// one.
    private static let adapterWeights = ["adapter_model.safetensors", "adapters.safetensors"]

    /// The files to download; weights come last, so that a folder with all weights is whole.
    ///
    /// - Parameters:
    ///   - files: Paths of all files of the repository.
    ///   - reference: Which repository, and which file of it.
    ///   - kind: What it is wanted as; nil: all that it is.
    /// - Returns: Paths among `files`.
    /// - Throws: `HubError.noFile`, `.onlyGGUF`, `.noWeights`, `.noModel`, `.noAdapter`.
    package static func files(
        of files: [String], for reference: HubReference, as kind: HubKind? = nil
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
        let kinds = kind.map { [$0] } ?? HubKind.allCases
        let found = kinds.compactMap { folder($0, among: files) }
        guard found.isEmpty else {
            let weights = found.flatMap { $0.filter { $0.hasSuffix(".safetensors") } }
            return found.flatMap { $0.filter { !$0.hasSuffix(".safetensors") } } + weights
        }
        if folder(.model, among: files) != nil {
            throw .noAdapter(repository: repository, found: .model)
        }
        if folder(.adapter, among: files) != nil { throw .noModel(repository: repository) }
        let gguf = files.filter { $0.hasSuffix(".gguf") }.sorted()
        guard gguf.isEmpty else {
            throw .onlyGGUF(repository: repository, files: Array(gguf.prefix(30)))
        }
        // A folder that lacks its configuration, or has a pickle, was meant as an adapter.
        let remains = adapterRemains(files)
        guard kind == .adapter || remains != .nothing else {
            throw .noWeights(repository: repository)
        }
        throw .noAdapter(repository: repository, found: remains)
    }

    /// The files of a folder that is a model or an adapter; nil: it is none. Folders in it hold other
    /// formats, such as onnx/ and original/, or checkpoints.
    package static func folder(_ kind: HubKind, among files: [String]) -> [String]? {
        let here = files.filter { !$0.contains("/") }.sorted()
        switch kind {
        case .model:
            let weights = here.filter { $0.hasSuffix(".safetensors") && !isAdapterFile($0) }
            // `consolidated.safetensors` has the same weights again, by other names.
            let named = weights.filter { $0.hasPrefix("model") }
            let chosen = named.isEmpty ? weights : named
            return chosen.isEmpty ? nil : here.filter(isText) + chosen
        case .adapter:
            guard here.contains(configuration),
                let weights = adapterWeights.first(where: here.contains)
            else { return nil }
            // The card, and what a creator says of the adapter, belong to it.
            return here.filter { [configuration, "README.md", "metadata.json"].contains($0) }
                + [weights]
        }
    }

    /// Whether a file is one of an adapter, or a checkpoint of one (`0000100_adapters.safetensors`).
    static func isAdapterFile(_ name: String) -> Bool {
        name == configuration || name.hasPrefix("adapter_model.")
            || name.hasSuffix(adapterWeights[1])
    }

    /// What a repository with neither model nor adapter has of one.
    private static func adapterRemains(_ files: [String]) -> HubError.Remains {
        if adapterWeights.contains(where: files.contains) { return .weights }
        if files.contains("adapter_model.bin") { return .pickle }
        return .nothing
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
