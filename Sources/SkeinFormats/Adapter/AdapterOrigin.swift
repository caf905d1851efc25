import SkeinBasics
import SkeinJSON

/// What a run of Skein was made of, as its adapter's configuration says it. Equal runs give equal
/// origins: there are no paths and no times.
package struct AdapterOrigin: Sendable, Equatable, Codable {
    package struct Base: Sendable, Equatable, Codable {
        /// The name of the file or folder, or of the repository on the Hub.
        package var name: String
        /// The commit on the Hub; nil when it is not known.
        package var revision: String?
        /// `ModelFiles.contentDigest`.
        package var sha256: String

        package init(name: String, revision: String?, sha256: String) {
            self.name = name
            self.revision = revision
            self.sha256 = sha256
        }
    }

    package struct Data: Sendable, Equatable, Codable {
        /// The digest of the training file's bytes.
        package var sha256: String
        /// The digest of the rows as they are encoded.
        package var rowsSHA256: String?

        package init(sha256: String, rowsSHA256: String?) {
            self.sha256 = sha256
            self.rowsSHA256 = rowsSHA256
        }

        enum CodingKeys: String, CodingKey {
            case sha256
            case rowsSHA256 = "rows_sha256"
        }
    }

    package var base: Base
    package var data: Data?
    /// Every option that shapes the result, as text.
    package var recipe: [String: String]?
    /// How rows became text, which the recipe may leave to the model ("auto"); nil, and not written, in
    /// records of older versions.
    package var promptFormat: String?
    /// SHA-256 of the chat template; nil, and not written, without one. Older versions wrote it only for one
    /// that was chosen (`--chat-template`).
    package var chatTemplateSHA256: String?

    /// SHA-256 of the weights of the adapter that the run began with, as a second part does with those of
    /// the first; nil, and not written, without one.
    package var initAdapterSHA256: String?

    package init(
        base: Base, data: Data?, recipe: [String: String]?, promptFormat: String? = nil,
        chatTemplateSHA256: String? = nil, initAdapterSHA256: String? = nil
    ) {
        self.base = base
        self.data = data
        self.recipe = recipe
        self.promptFormat = promptFormat
        self.chatTemplateSHA256 = chatTemplateSHA256
        self.initAdapterSHA256 = initAdapterSHA256
    }

    enum CodingKeys: String, CodingKey {
        case base = "base_model"
        case data, recipe
        case promptFormat = "prompt_format"
        case chatTemplateSHA256 = "chat_template_sha256"
        case initAdapterSHA256 = "init_adapter_sha256"
    }

    /// Sorted, as in the file.
    package var fields: [(String, JSONValue)] {
        func optional(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
        var fields: [(String, JSONValue)] = [
            (
                "base_model",
                .fields([
                    ("name", .text(base.name)), ("revision", optional(base.revision)),
                    ("sha256", .text(base.sha256)),
                ])
            )
        ]
        if let chatTemplateSHA256 {
            fields.append((CodingKeys.chatTemplateSHA256.rawValue, .text(chatTemplateSHA256)))
        }
        if let data {
            fields.append(
                (
                    "data",
                    .fields([
                        ("rows_sha256", optional(data.rowsSHA256)),
                        ("sha256", .text(data.sha256)),
                    ])
                ))
        }
        if let initAdapterSHA256 {
            fields.append((CodingKeys.initAdapterSHA256.rawValue, .text(initAdapterSHA256)))
        }
        if let promptFormat {
            fields.append((CodingKeys.promptFormat.rawValue, .text(promptFormat)))
        }
        if let recipe {
            let sorted = recipe.sorted { $0.key < $1.key }
            fields.append(("recipe", .fields(sorted.map { ($0.key, .text($0.value)) })))
        }
        return fields
    }
}
