import SkeinBasics
import SkeinJSON

/// The JSON object in the file of `--config`: options by name, with dashes or in camelCase; or a run's
/// record, run.json.
struct ConfigurationFile {
    /// Accepted texts by option name, as if they had been typed.
    let texts: [String: String]

    /// - Throws: `UsageError` for bad content, `ForeignFileError` for a file of another kind,
    ///   `FileError` for one that cannot be read.
    init(path: String, table: ArgumentTable) throws {
        let bytes = try BoundedInput.text(path: path, limit: Limits.configurationBytes)
        try self.init(bytes: bytes, path: path, table: table)
    }

    init(bytes: [UInt8], path: String, table: ArgumentTable) throws {
        let value: JSONValue
        do {
            value = try JSONReader.read(bytes, .foundation)
        } catch {
            throw UsageError.configurationIsNoObject(path: path, detail: error.sentence(in: bytes))
        }
        guard let fields = value.fields else {
            throw UsageError.configurationIsNoObject(path: path, detail: "it is \(value.kind)")
        }
        if RunRecord.isRecord(fields) {
            self.init(texts: try RunRecord(path: path).texts(for: table))
            return
        }
        try self.init(fields: fields, path: path, table: table)
    }

    private init(texts: [String: String]) { self.texts = texts }

    /// Options of an object; `path` says where it stands.
    init(fields: [JSONField], path: String, table: ArgumentTable) throws {
        let names = table.options.map(\.name).filter { !GeneralFlags.names.contains($0) }
        var texts: [String: String] = [:]
        for field in fields.sorted(by: { $0.name < $1.name }) {
            let key = field.name
            let name = OptionDescription.name(of: key)
            guard names.contains(name), let option = table.option(named: name) else {
                var suggestion = Words.nearest(to: name, among: names)
                if case .option(let meant)? = ForeignNames.meaning(of: "--" + name, in: table) {
                    suggestion = meant
                }
                throw UsageError.unknownKey(key, path: path, suggestion: suggestion)
            }
            if field.value == .null { continue }
            let text = try Self.text(of: field, for: option, path: path)
            guard texts.updateValue(text, forKey: name) == nil else {
                throw UsageError.repeatedKey(name, path: path)
            }
        }
        self.texts = texts
    }

    /// The text as it would be typed.
    private static func text(
        of field: JSONField, for option: OptionDescription, path: String
    ) throws(UsageError) -> String {
        func bad(_ value: String) -> UsageError {
            .badKeyValue(field.name, path: path, value: value, accepted: option.accepted)
        }
        // In the words of who wrote true or false.
        let flag = if case .bool(let isSet) = field.value { "\(isSet)" } else { String?.none }
        guard let text = flag ?? option.text(of: field.value) else {
            throw bad("an object or a mixed list")
        }
        guard option.refusal(of: text) == nil else { throw bad(JSONValue.quoted(text)) }
        return text
    }
}
