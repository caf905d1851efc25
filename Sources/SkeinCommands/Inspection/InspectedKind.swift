import SkeinBasics
import SkeinFormats
import SkeinModels

/// What a path holds, by file names or its first bytes. Whether it is sound is checked later.
enum InspectedKind: Sendable, Equatable {
    case model
    case adapter
    case checkpoint
    case run
    case safetensors

    /// In search order: a checkpoint is also an adapter, and some adapter folders hold their base
    /// model's configuration.
    private static let folders: [(file: String, kind: InspectedKind)] =
        [
            ("run.json", .run), ("manifest.json", .checkpoint), ("state.json", .checkpoint),
            (AdapterFiles.configurationName, .adapter),
        ] + AdapterFormats.standard.weightsNames.map { ($0, .adapter) } + [("config.json", .model)]

    private static let fileKinds = ["the magic bytes GGUF", "a safetensors header"]

    /// Looks at `path`.
    ///
    /// - Throws: `FormatError.notFound`; `CommandError.badInput` with what was looked for;
    ///   `ForeignFileError`; `FileError`.
    init(path: String) throws {
        guard let kind = try FileKind.at(path) else { throw FormatError.notFound(path: path) }
        if kind != .directory {
            self = try Self.ofFile(path)
            return
        }
        let found = try Self.folders.first {
            try FileKind.at(FilePath.join(path, $0.file)) != nil
        }
        guard let found else {
            try Self.refuseRows(path)
            let names = Self.folders.map(\.file)
            throw CommandError.badInput(.unknownKind(lookedFor: names), place: path)
        }
        self = found.kind
    }

    private static func ofFile(_ path: String) throws -> InspectedKind {
        let name = path.lowercased()
        // The name comes first, so that a damaged file gets an exact error.
        if name.hasSuffix(".gguf") { return try Self.ofGGUF(path) }
        if name.hasSuffix(".safetensors") { return .safetensors }
        let file = try MappedFile(path: path)
        let beginning = withExtendedLifetime(file) { Array(file.bytes.prefix(9)) }
        if beginning.starts(with: "GGUF".utf8) { return try ofGGUF(path) }
        if beginning.count == 9, beginning[8] == UInt8(ascii: "{") { return .safetensors }
        if let foreign = file.withBytes({ ForeignFileError(path: path, bytes: $0, use: .model) }) {
            throw foreign
        }
        try refuseRows(path)
        throw CommandError.badInput(.unknownKind(lookedFor: fileKinds), place: path)
    }

    private static func refuseRows(_ path: String) throws(CommandError) {
        guard ModelStandIn(at: path) == .rows else { return }
        throw CommandError.badInput(.rows(path: path), place: path)
    }

    private static func ofGGUF(_ path: String) throws -> InspectedKind {
        try GGUFFile(path: path).isAdapter ? .adapter : .model
    }
}
