import Foundation
import SkeinBasics

/// The tokenizer files of a Hugging Face folder.
struct FolderTokenizer {
    let source: ModelFiles.TokenizerSource?
    let chatTemplate: String?
    /// By name; "default" is `chatTemplate`.
    let namedChatTemplates: [String: String]
    let sources: [ModelFiles.SourceFile]

    init(_ directory: String) throws {
        var files: [ModelFiles.SourceFile] = []
        func map(_ name: String) throws -> MappedFile? {
            guard try FileKind.at("\(directory)/\(name)") != nil else { return nil }
            let file = try MappedFile(path: "\(directory)/\(name)")
            files.append(ModelFiles.SourceFile(name: name, file: file))
            return file
        }
        let tokenizer = try map("tokenizer.json")
        let pieces = try tokenizer == nil ? map("tokenizer.model") : nil
        let tekken = try tokenizer == nil && pieces == nil ? map("tekken.json") : nil
        let config = try map("tokenizer_config.json")
        let template = try map("chat_template.jinja")
        if let tekken {
            source = .tekken(tekken.path)
        } else if let tokenizer {
            source = .files(tokenizerJSON: tokenizer.path, tokenizerConfig: config?.path)
        } else {
            source = pieces.map {
                .sentencePiece(model: $0.path, tokenizerConfig: config?.path)
            }
        }
        let configured = try config.map { file in
            try JSONFile.decode(TemplateField.self, file: file, limit: Limits.indexBytes)
        }
        chatTemplate = try template.map(Self.text) ?? configured?.text
        // As in transformers, files take the place of the configuration's list.
        let additional = try Self.additionalTemplates(directory)
        namedChatTemplates =
            template == nil && additional.isEmpty ? configured?.named ?? [:] : additional
        sources = files
    }

    /// The templates of the folder additional_chat_templates, by name.
    private static func additionalTemplates(_ directory: String) throws -> [String: String] {
        let folder = directory + "/additional_chat_templates"
        guard try FileKind.at(folder) == .directory else { return [:] }
        let files = try DiskStore().names(in: folder).filter { $0.hasSuffix(".jinja") }
        guard files.count <= Limits.namedTemplates else {
            throw FormatError.overLimit(
                path: folder, field: "templates", limit: UInt64(Limits.namedTemplates),
                found: UInt64(files.count))
        }
        var templates: [String: String] = [:]
        for file in files {
            templates[String(file.dropLast(".jinja".count))] = try text(
                of: MappedFile(path: "\(folder)/\(file)"))
        }
        return templates
    }

    private static func text(of file: MappedFile) throws -> String {
        guard file.count <= Limits.templateBytes else {
            throw FormatError.overLimit(
                path: file.path, field: "file size", limit: UInt64(Limits.templateBytes),
                found: UInt64(file.count))
        }
        // A template may be any text, also that of a pointer.
        if let foreign = file.withBytes({
            ForeignFileError(path: file.path, bytes: $0, use: .text)
        }), foreign.kind != .webPage {
            throw foreign
        }
        guard let text = file.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw FormatError.notText(path: file.path, offset: 0, field: "the template")
        }
        return text
    }

    /// `chat_template` of tokenizer_config.json: a text, or named texts with "default" among them.
    private struct TemplateField: Decodable {
        let text: String?
        private(set) var named: [String: String] = [:]

        private enum CodingKeys: String, CodingKey { case template = "chat_template" }

        private struct Named: Decodable {
            let name: String
            let template: String
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard container.contains(.template), try !container.decodeNil(forKey: .template)
            else {
                text = nil
                return
            }
            do {
                text = try container.decode(String.self, forKey: .template)
            } catch DecodingError.typeMismatch {
                let list = try container.decode([Named].self, forKey: .template)
                text = list.first { $0.name == "default" }?.template
                for item in list where item.name != "default" {
                    named[item.name] = item.template
                }
            }
        }
    }
}
