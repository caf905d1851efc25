import SkeinBasics

/// How the rows lie in a data file, told by its name.
enum DataFileKind: String, CaseIterable, Sendable {
    /// One JSON object on each line.
    case lines
    /// One JSON list of objects.
    case list
    case csv
    case tsv
    case parquet
    /// A text on each line.
    case text

    /// The endings of names of data files, without `.jsonl`.
    static let suffixes = [".ndjson", ".json", ".csv", ".tsv", ".parquet", ".txt"]

    /// Endings of files that must be taken out of something first, and what does it.
    private static let packed = [
        ".gz": "gunzip", ".zst": "unzstd", ".xz": "unxz", ".bz2": "bunzip2", ".zip": "unzip",
        ".tar": "tar -xf", ".tgz": "tar -xf",
    ]
    /// Endings of tables that Skein does not read.
    private static let foreign = [".arrow", ".feather", ".xlsx", ".xls", ".orc", ".avro", ".db"]

    /// - Parameters:
    ///   - path: of the file. A name without a known ending is a file of lines.
    ///   - bytes: its contents. A `.json` file that does not begin with a list has lines; a `.txt` file
    ///     that begins as one of the two would (`{"` or `[{`) is one; a Parquet file is one whatever
    ///     its name.
    /// - Throws: `ForeignFileError`; `RowError.unreadDataFile`.
    init(path: String, bytes: UnsafeRawBufferPointer) throws {
        let name = FilePath.name(of: path).lowercased()
        if let foreign = Self.foreign(path: path, name: name, bytes) { throw foreign }
        for (suffix, tool) in Self.packed where name.hasSuffix(suffix) {
            throw RowError.unreadDataFile(path: path, kind: suffix, remedy: .unpack(tool))
        }
        for suffix in Self.foreign where name.hasSuffix(suffix) {
            throw RowError.unreadDataFile(path: path, kind: suffix, remedy: .convert)
        }
        if bytes.starts(with: Array("PAR1".utf8)) || name.hasSuffix(".parquet") {
            self = .parquet
        } else if name.hasSuffix(".csv") {
            self = .csv
        } else if name.hasSuffix(".tsv") {
            self = .tsv
        } else if name.hasSuffix(".txt"), !Self.beginsWithObject(bytes) {
            self = .text
        } else if name.hasSuffix(".json") || name.hasSuffix(".txt"),
            Self.firstBytes(bytes).first == UInt8(ascii: "[")
        {
            self = .list
        } else {
            self = .lines
        }
    }

    /// What a file is that holds no rows. A text to train on may well be a web page.
    private static func foreign(
        path: String, name: String, _ bytes: UnsafeRawBufferPointer
    ) -> ForeignFileError? {
        guard let error = ForeignFileError(path: path, bytes: bytes, use: .data) else { return nil }
        switch error.kind {
        case .webPage: return name.hasSuffix(".txt") || name.hasSuffix(".csv") ? nil : error
        default: return error
        }
    }

    /// Whether a file's name says that it holds rows, but in a form that is not read.
    static func isUnread(_ name: String) -> Bool {
        let name = name.lowercased()
        return packed.keys.contains(where: name.hasSuffix)
            || (foreign + [".pkl", ".pickle"]).contains(where: name.hasSuffix)
    }

    /// The first two bytes that are neither blanks nor parts of a byte order mark.
    private static func firstBytes(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        return Array(bytes.lazy.filter { !blanks.contains($0) }.prefix(2))
    }

    /// Whether the file begins with an object or with a list of objects.
    private static func beginsWithObject(_ bytes: UnsafeRawBufferPointer) -> Bool {
        ["{\"", "{}", "[{"].contains { firstBytes(bytes) == Array($0.utf8) }
    }
}

/// What makes an unread file a data file.
package enum DataFileRemedy: Equatable, Sendable {
    case unpack(String)
    case convert
}
