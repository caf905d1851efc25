import SkeinBasics

/// Where the tokens of a run's files came from.
package struct TokenOrigin: Sendable, Equatable {
    /// Rows that this process parsed and encoded.
    package internal(set) var encodedRows = 0
    /// Rows that were taken from the token cache, neither parsed nor encoded.
    package internal(set) var cachedRows = 0
    /// What hindered the cache. The run is the same without it.
    package internal(set) var warnings: [TokenCacheWarning] = []
}

/// Gets data files encoded: from the cache when it has them, else from their lines.
struct TokenSource {
    let encoder: RowEncoder
    /// `--skip-bad-lines`.
    let skippingBadLines: Bool
    /// Ids of the model are below this.
    let vocabularySize: Int
    /// nil: every row is encoded.
    let cache: TokenCache?
    /// Of Skein: another version does not use this one's tokens.
    let version: String
    private(set) var origin = TokenOrigin()

    init(
        encoder: RowEncoder, skippingBadLines: Bool, vocabularySize: Int, cache: TokenCache?,
        version: String
    ) {
        self.encoder = encoder
        self.skippingBadLines = skippingBadLines
        self.vocabularySize = vocabularySize
        self.cache = cache
        self.version = version
    }

    /// The rows of the file at `path`.
    ///
    /// - Parameters:
    ///   - path: a .jsonl file.
    ///   - allowingNone: a file without rows is allowed (validation data).
    /// - Returns: the same, whether it was kept or made.
    /// - Throws: what `PairFile` and `RowEncoder.encode` throw; never what hinders the cache.
    mutating func file(_ path: String, allowingNone: Bool = false) throws -> EncodedFile {
        let data = try DataFile(path: path)
        let key = cache.flatMap { _ in
            TokenCacheKey(
                data: data.digest, encoder: encoder, skippingBadLines: skippingBadLines,
                version: version)
        }
        if let cache, let key, let kept = read(data, key, from: cache) {
            origin.cachedRows += kept.lines.rowCount
            return kept
        }
        let file = try PairFile(
            data, skippingBadLines: skippingBadLines, allowingNone: allowingNone)
        let made = EncodedFile(
            digest: data.digest, lines: file.facts, encoded: try encoder.encode(file))
        origin.encodedRows += file.rows.count
        // Nothing would be won, and an empty training file is an error that is to be told again.
        if let cache, let key, !file.rows.isEmpty { write(made, key, to: cache) }
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

/// A data file as a run uses it: its encoded rows, and what the report tells of its lines.
package struct EncodedFile: Sendable, Equatable {
    /// Of the file's bytes.
    package let digest: SHA256.Digest
    package let lines: LineFacts
    package let encoded: EncodedRows
}

/// A data file mapped and hashed, before anybody reads a line of it.
struct DataFile: Sendable {
    let path: String
    let mapped: MappedFile
    /// Of the file's bytes.
    let digest: SHA256.Digest

    /// - Throws: `FileError`; `TrainingError.dataFileTooLarge`.
    init(path: String) throws {
        let file = try MappedFile(path: path)
        guard file.count <= Limits.dataFileBytes else {
            throw TrainingError.dataFileTooLarge(
                path: path, bytes: file.count, limit: Limits.dataFileBytes)
        }
        self.path = path
        mapped = file
        digest = file.withBytes { SHA256.digest(of: $0) }
    }
}
