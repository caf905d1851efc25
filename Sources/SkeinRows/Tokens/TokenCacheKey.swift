import SkeinBasics
import SkeinJSON
import SkeinText

/// One SHA-256 of everything that the tokens of a data file depend on.
struct TokenCacheKey: Sendable, Hashable {
    let digest: SHA256.Digest
    /// With which a bad row is read again.
    let fields: RowFields

    /// nil if the encoder has no digest.
    ///
    /// - Parameters:
    ///   - data: SHA-256 of the data file.
    ///   - kind: how its rows lie in it.
    ///   - fields: which keys hold the parts of a row.
    ///   - encoder: tokenizer, template and settings.
    ///   - skippingBadLines: whether malformed lines are passed over.
    ///   - version: of Skein.
    init?(
        data: SHA256.Digest, kind: DataFileKind = .lines, fields: RowFields = RowFields(),
        encoder: RowEncoder, skippingBadLines: Bool, version: String
    ) {
        guard let text = encoder.encoder.digest else { return nil }
        var digested = DigestFields("skein tokens")
        digested.append(Int(TokenCacheFile.version))
        digested.append(RowEncoder.version)
        digested.append(version)
        digested.append(data)
        digested.append(text)
        digested.append(encoder.format.rawValue)
        digested.append(encoder.trainedTurns.rawValue)
        digested.append(encoder.maximumLength)
        digested.append(skippingBadLines ? 1 : 0)
        // Only where they are something else, so that keys of other runs stay as they were.
        if kind != .lines { digested.append(kind.rawValue) }
        if !fields.isEmpty { digested.append("fields " + fields.text) }
        if encoder.comparesAnswers { digested.append("pairs of answers") }
        if let length = encoder.chunkLength {
            digested.append("text chunks")
            digested.append(length)
        }
        digest = digested.finish()
        self.fields = fields
    }
}

extension TextEncoder {
    /// SHA-256 of everything that turns a text or a conversation into ids.
    package static func digest(
        tokenizer: Tokenizer, template: (source: String, date: TemplateDate)?,
        toolTemplate: String? = nil, arguments: [JSONField] = []
    ) -> SHA256.Digest {
        var fields = DigestFields("skein text encoder")
        fields.append(tokenizer.contentDigest)
        fields.append(Int(tokenizer.beginID ?? -1))
        fields.append(Int(tokenizer.endID ?? -1))
        fields.append(tokenizer.addsBeginToken ? 1 : 0)
        let ends = tokenizer.endOfTurnIDs.sorted()
        fields.append(ends.count)
        for id in ends { fields.append(Int(id)) }
        fields.append(template == nil ? 0 : 1)
        if let template {
            fields.append(template.source)
            for token in [tokenizer.templateTokens.begin, tokenizer.templateTokens.end] {
                fields.append(token == nil ? 0 : 1)
                fields.append(token ?? "")
            }
            for part in [template.date.year, template.date.month, template.date.day] {
                fields.append(part)
            }
        }
        // Only when there are some, so that keys of runs without them stay as they were.
        for argument in template == nil ? [] : arguments {
            fields.append(argument.name)
            fields.append(argument.value.described)
        }
        if template != nil, let toolTemplate {
            fields.append("tool template")
            fields.append(toolTemplate)
        }
        // A model with fewer embeddings may refuse rows that another one takes.
        if let count = tokenizer.fewerEmbeddings {
            fields.append("embeddings")
            fields.append(count)
        }
        return fields.finish()
    }
}
