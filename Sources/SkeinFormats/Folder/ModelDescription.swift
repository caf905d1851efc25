import SkeinBasics

/// What a model says about itself before its weights are read: the metadata of a GGUF file, or the
/// config.json of a Hugging Face folder.
package enum ModelDescription: Sendable {
    case gguf(GGUFFile)
    case folder(FolderConfiguration)

    /// Opens `path`; of a folder, reads only config.json, or the parts of a split GGUF file.
    ///
    /// - Throws: `FileError` when a file cannot be read, `FormatError` when there is none or it is
    ///   invalid.
    package static func open(_ path: String) throws -> ModelDescription {
        guard let kind = try FileKind.at(path) else { throw FormatError.notFound(path: path) }
        if kind != .directory { return .gguf(try file(path)) }
        guard try FileKind.at(path + "/config.json") != nil else {
            guard let first = try SplitName.firstPart(inFolder: path) else {
                throw ModelStandIn(at: path).map {
                    FormatError.standsForModel(path: path, found: $0)
                } ?? FormatError.notAModel(path: path)
            }
            return .gguf(try GGUFFile(path: first))
        }
        return .folder(try FolderConfiguration(path))
    }

    private static func file(_ path: String) throws -> GGUFFile {
        let file: GGUFFile
        do {
            file = try GGUFFile(path: path)
        } catch let error as FormatError {
            guard case .badMagic = error, let found = ModelStandIn(at: path) else { throw error }
            throw FormatError.standsForModel(path: path, found: found)
        }
        guard !file.isAdapter else {
            throw FormatError.standsForModel(path: path, found: .adapter)
        }
        return file
    }
}

/// The text of a folder's config.json, for a caller that knows its fields.
package struct FolderConfiguration: Sendable {
    package let directory: String
    private let file: MappedFile

    /// The path of config.json.
    package var path: String { file.path }

    /// - Throws: `FileError`; `FormatError.overLimit`.
    init(_ directory: String) throws {
        self.directory = directory
        file = try JSONFile.read(directory + "/config.json", limit: Limits.configurationBytes)
    }

    /// - Throws: `FormatError.notText`.
    package func text() throws -> String {
        guard let text = file.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw FormatError.notText(path: path, offset: 0, field: "the configuration")
        }
        return text
    }

    /// - Throws: `FormatError` with the field that is missing or of another type.
    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONFile.decode(type, file: file, limit: Limits.configurationBytes)
    }
}
