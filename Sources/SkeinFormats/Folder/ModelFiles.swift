import Foundation
import SkeinBasics

/// A model on disk as its files have it: a mapped GGUF file or Hugging Face folder.
///
/// Names, shapes and the order of rows are the files' own; the family says what they mean.
package struct ModelFiles: Sendable {
    package enum TokenizerSource: Sendable {
        /// The metadata of a GGUF file.
        case gguf([String: GGUFValue])
        /// Paths of tokenizer.json and, if there is one, tokenizer_config.json.
        case files(tokenizerJSON: String, tokenizerConfig: String?)
        /// Paths of tokenizer.model, in a folder without tokenizer.json, and of its configuration.
        case sentencePiece(model: String, tokenizerConfig: String?)
        /// Path of tekken.json, in a folder without either of these.
        case tekken(String)
    }

    /// The path that was given to `open`.
    package let path: String
    package let tokenizerSource: TokenizerSource?
    /// chat_template.jinja, else tokenizer_config.json's, else GGUF's tokenizer.chat_template.
    package let chatTemplate: String?
    /// Chat templates besides `chatTemplate` by name, such as "tool_use": those of the folder
    /// additional_chat_templates, else of tokenizer_config.json's list, else GGUF's
    /// tokenizer.chat_template.NAME. They are not part of the model's digest: what they do to rows
    /// shows in the digest of the rows.
    package let namedChatTemplates: [String: String]
    /// What the files call the model: GGUF's general.name, or config.json's _name_or_path. It may be
    /// any text, and nothing is computed from it.
    package let statedName: String?
    /// How the makers want tokens picked; no part of the model's digest.
    package let sampling: StatedSampling
    package let tensors: [String: TensorView]
    /// Element types of tensors that cannot be weights, by name.
    package let otherTensors: [String: String]
    private let sources: [SourceFile]

    /// A file of the model.
    package struct SourceFile: Sendable {
        /// Without a directory; empty for a GGUF file, whose name does not matter, and "model" with
        /// the number of a part for those of a split one.
        package let name: String
        package let file: MappedFile

        package init(name: String, file: MappedFile) {
            self.name = name
            self.file = file
        }

        /// SHA-256 of the file; reads every byte.
        package func digest() -> SHA256.Digest { file.withBytes { SHA256.digest(of: $0) } }
    }

    /// Opens a GGUF file or a folder with config.json; weights are mapped, not read.
    ///
    /// - Throws: `FileError` when a file cannot be mapped, `FormatError` when there is none or it
    ///   is invalid.
    package static func open(_ path: String) throws -> ModelFiles {
        try ModelFiles(ModelDescription.open(path))
    }

    /// Maps the files that belong to a description.
    ///
    /// - Throws: `FileError`, `FormatError`.
    package init(_ description: ModelDescription) throws {
        switch description {
        case .gguf(let file): self.init(file)
        case .folder(let configuration): try self.init(configuration)
        }
    }

    private init(_ gguf: GGUFFile) {
        path = gguf.path
        tensors = gguf.tensors
        otherTensors = [:]
        tokenizerSource =
            gguf.metadata["tokenizer.ggml.tokens"] == nil ? nil : .gguf(gguf.metadata)
        if case .string(let template) = gguf.metadata["tokenizer.chat_template"] {
            chatTemplate = template
        } else {
            chatTemplate = nil
        }
        var named: [String: String] = [:]
        let prefix = "tokenizer.chat_template."
        for (key, value) in gguf.metadata where key.hasPrefix(prefix) {
            if case .string(let template) = value {
                named[String(key.dropFirst(prefix.count))] = template
            }
        }
        namedChatTemplates = named
        if case .string(let name) = gguf.metadata["general.name"] {
            statedName = name
        } else {
            statedName = nil
        }
        sampling = StatedSampling(gguf.metadata, path: gguf.path)
        let count = gguf.files.count
        sources = gguf.files.enumerated().map { number, file in
            SourceFile(
                name: count == 1 ? "" : SplitName.plain(part: number + 1, of: count), file: file)
        }
    }

    private init(_ configuration: FolderConfiguration) throws {
        path = configuration.directory
        var weights = try FolderWeights(path)
        try weights.compose(FolderQuantization(configuration), path: path)
        let tokenizer = try FolderTokenizer(path)
        tensors = weights.tensors
        otherTensors = weights.otherTensors
        tokenizerSource = tokenizer.source
        chatTemplate = tokenizer.chatTemplate
        namedChatTemplates = tokenizer.namedChatTemplates
        statedName = try configuration.decode(StatedName.self).name
        sampling = StatedSampling(folder: path)
        let config = try MappedFile(path: configuration.path)
        sources =
            [SourceFile(name: "config.json", file: config)] + weights.sources + tokenizer.sources
    }

    /// What config.json calls the model; a value that is no text is no name.
    private struct StatedName: Decodable {
        let name: String?

        enum Key: String, CodingKey { case name = "_name_or_path" }

        init(from decoder: any Decoder) throws {
            // Only a sentence for people has the name.
            name = try? decoder.container(keyedBy: Key.self).decode(String.self, forKey: .name)
        }
    }

    /// The files that make up the model, and no others, sorted by name: copied into an empty folder
    /// they are the same model, with the same `contentDigest`.
    package var files: [SourceFile] { sources.sorted { $0.name < $1.name } }

    /// Gives back the memory of the mapped files, once everything needed has been read.
    package func releasePages() {
        for source in sources { source.file.releasePages() }
    }

    /// SHA-256 of the model's bytes: of the GGUF file, or of names, lengths and contents of a split
    /// file's parts, or of the folder's configuration, weights and tokenizer files, in the order of
    /// their names.
    ///
    /// Reads every byte: about a second for 1 GB.
    package func contentDigest() -> SHA256.Digest { contentDigest { _ in } }

    /// The same. `progress` gets the number of bytes read since its last call, and may stop the
    /// hashing by throwing.
    package func contentDigest(progress: (Int) throws -> Void) rethrows -> SHA256.Digest {
        var hash = SHA256()
        let isFile = sources.count == 1 && sources.first?.name.isEmpty == true
        for source in files {
            if !isFile { hash.update("\(source.name)\n\(source.file.count)\n") }
            try source.file.update(&hash, progress: progress)
        }
        return hash.finish()
    }
}
