import SkeinBasics

/// Where the tokens of a run's files came from.
package struct TokenOrigin: Sendable, Equatable {
    /// Rows that this process parsed and encoded.
    package internal(set) var encodedRows = 0
    /// Rows that came from the token cache, neither parsed nor encoded.
    package internal(set) var cachedRows = 0
    /// Why the cache was not used. The run is the same without it.
    package internal(set) var warnings: [TokenCacheWarning] = []
}

/// Encoded data files: from the cache if it has them, else encoded from their lines.
package struct TokenSource {
    package let encoder: RowEncoder
    /// `--field`.
    package let fields: RowFields
    /// `--skip-bad-lines`.
    package let skippingBadLines: Bool
    /// The model's ids are below this.
    package let vocabularySize: Int
    /// nil: every row is encoded.
    package let cache: TokenCache?
    /// Skein's version: another version does not use this one's tokens.
    package let version: String
    package private(set) var origin = TokenOrigin()

    package init(
        encoder: RowEncoder, fields: RowFields = RowFields(), skippingBadLines: Bool,
        vocabularySize: Int, cache: TokenCache?, version: String
    ) {
        self.encoder = encoder
        self.fields = fields
        self.skippingBadLines = skippingBadLines
        self.vocabularySize = vocabularySize
        self.cache = cache
        self.version = version
    }

    /// The rows of several files as one.
    ///
    /// - Parameters:
    ///   - files: at least one.
    ///   - allowingNone: files without rows are allowed (validation data).
    /// - Returns: rows numbered through, and how many each file has.
    /// - Throws: as `file`; `RowError.tooManyRows`.
    package mutating func files(
        _ files: [WeightedFile], allowingNone: Bool = false
    ) throws -> (joined: EncodedFile, shares: [DataShares.Share]) {
        var parts: [EncodedFile] = []
        for one in files { parts.append(try file(one.path, allowingNone: allowingNone)) }
        let shares = zip(files, parts).map {
            DataShares.Share(file: $0, rowCount: $1.lines.rowCount)
        }
        return (try EncodedFile(joining: parts, of: files), shares)
    }

    /// The rows of the file at `path`.
    ///
    /// - Parameters:
    ///   - path: a data file.
    ///   - allowingNone: a file without rows is allowed (validation data).
    /// - Returns: the same, whether it was cached or encoded.
    /// - Throws: what `PairFile` and `RowEncoder.encode` throw; never an error of the cache.
    mutating func file(_ path: String, allowingNone: Bool = false) throws -> EncodedFile {
        let data = try DataFile(path: path)
        let key = cache.flatMap { _ in
            TokenCacheKey(
                data: data.digest, kind: data.kind, fields: fields, encoder: encoder,
                skippingBadLines: skippingBadLines, version: version)
        }
        if let cache, let key, let kept = read(data, key, from: cache) {
            origin.cachedRows += kept.lines.rowCount
            return kept
        }
        let file = try PairFile(
            data, fields: fields, skippingBadLines: skippingBadLines, allowingNone: allowingNone)
        let made = EncodedFile(file, try encoder.encodeWithRemarks(file))
        origin.encodedRows += made.lines.rowCount
        // An empty file would save nothing, and from the cache would pass as training data. The
        // cache keeps where a bad row is, which must be enough to find the problem again.
        if let cache, let key, !file.rows.isEmpty, file.canFindBadLineAgain(in: data) {
            write(made, key, to: cache)
        }
        return made
    }

    private mutating func read(
        _ data: DataFile, _ key: TokenCacheKey, from cache: TokenCache
    ) -> EncodedFile? {
        do {
            return try cache.read(
                key, of: data, vocabularySize: vocabularySize, maximumLength: encoder.maximumLength)
        } catch let flaw as TokenCacheFlaw {
            origin.warnings.append(.damaged(path: cache.path(of: key), flaw: flaw))
        } catch {
            origin.warnings.append(.unreadable(path: cache.path(of: key), error: error))
        }
        return nil
    }

    private mutating func write(_ file: EncodedFile, _ key: TokenCacheKey, to cache: TokenCache) {
        do {
            try cache.write(file, key)
        } catch let flaw as TokenCacheFlaw {
            origin.warnings.append(.notKept(path: cache.path(of: key), detail: flaw.text))
        } catch {
            origin.warnings.append(.unwritable(path: cache.path(of: key), error: error))
        }
    }
}

/// A data file as a run uses it: its encoded rows, and what the report says about its lines.
package struct EncodedFile: Sendable, Equatable {
    /// The digest of the file's bytes.
    package let digest: SHA256.Digest
    package let lines: LineFacts
    package let encoded: EncodedRows
}

extension EncodedFile {
    init(_ file: PairFile, _ encoded: EncodedPairs) {
        self.init(digest: file.digest, lines: file.facts(encoded), encoded: encoded.rows)
    }
}

/// A data file, mapped and hashed before a line of it is read.
struct DataFile: Sendable {
    let path: String
    let mapped: MappedFile
    let kind: DataFileKind
    /// The digest of the file's bytes.
    let digest: SHA256.Digest

    /// - Throws: `FileError`; `RowError.dataFileTooLarge`, `.unreadDataFile`.
    init(path: String) throws {
        let file = try MappedFile(path: path)
        guard file.count <= Limits.dataFileBytes else {
            throw RowError.dataFileTooLarge(
                path: path, bytes: file.count, limit: Limits.dataFileBytes)
        }
        self.path = path
        mapped = file
        kind = try file.withBytes { try DataFileKind(path: path, bytes: $0) }
        digest = file.withBytes { SHA256.digest(of: $0) }
    }
}
