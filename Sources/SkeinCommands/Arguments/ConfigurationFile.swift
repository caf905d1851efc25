import Foundation
import SkeinBasics

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
        let fields: [String: Field]
        do {
            fields = try JSONDecoder().decode([String: Field].self, from: Data(bytes))
        } catch {
            throw UsageError.configurationIsNoObject(path: path)
        }
        if RunRecord.isRecord(fields) {
            self.init(texts: try RunRecord(path: path).texts(for: table))
            return
        }
        try self.init(fields: fields, path: path, table: table)
    }

    private init(texts: [String: String]) { self.texts = texts }

    /// Options of an object that is decoded; `path` says where it stands.
    init(fields: [String: Field], path: String, table: ArgumentTable) throws {
        let names = table.options.map(\.name).filter { !GeneralFlags.names.contains($0) }
        var texts: [String: String] = [:]
        for (key, field) in fields.sorted(by: { $0.key < $1.key }) {
            let name = OptionDescription.name(of: key)
            guard names.contains(name), let option = table.option(named: name) else {
                var suggestion = Words.nearest(to: name, among: names)
                if case .option(let meant)? = ForeignNames.meaning(of: "--" + name, in: table) {
                    suggestion = meant
                }
                throw UsageError.unknownKey(key, path: path, suggestion: suggestion)
            }
            guard let text = try field.text(of: option, key: key, path: path) else { continue }
            guard texts.updateValue(text, forKey: name) == nil else {
                throw UsageError.repeatedKey(name, path: path)
            }
        }
        self.texts = texts
    }
}

/// A value in a configuration file. JSONDecoder distinguishes true from 1.
enum Field: Decodable {
    case absent
    case flag(Bool)
    case text(String)
    case list([String])
    case structure

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Tries each kind in turn. A failure only means "another kind"; the last takes anything.
        if container.decodeNil() {
            self = .absent
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int.self) {
            self = .text(String(number))
        } else if let number = try? container.decode(Double.self) {
            self = .text(number.description)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([String].self) {
            self = .list(list)
        } else {
            self = .structure
        }
    }

    /// The text as it would be typed; nil for null, which means "not given".
    func text(of option: OptionDescription, key: String, path: String) throws -> String? {
        let text: String
        switch self {
        case .absent: return nil
        case .flag(let flag): text = flag ? "true" : "false"
        case .text(let given): text = given
        case .list(let items): text = option.text(of: items)
        case .structure: text = ""
        }
        if case .structure = self {
            throw UsageError.badKeyValue(
                key, path: path, value: "an object or a mixed list", accepted: option.accepted)
        }
        guard option.json(text) != nil else {
            throw UsageError.badKeyValue(
                key, path: path, value: JSONLine.quote(text), accepted: option.accepted)
        }
        return text
    }
}
