import Foundation
import SkeinBasics

/// Encoded data files on disk, so that a second start encodes nothing.
///
/// One file for each key, `<SHA-256 of the key>.tokens`. Nothing in it is trusted: a file that is
/// torn, foreign or damaged is not used. It can be removed at any time. The data's rows can be read
/// from it, so only its owner may read it, even if others may read the data.
package struct TokenCache: Sendable {
    private let folder: CacheFolder
    package var directory: String { folder.path }

    /// - Parameter directory: need not exist. By default `tokens` in the cache directory.
    package init(directory: String = CacheDirectory.root + "/tokens") {
        self.init(
            directory: directory, fileLimit: Limits.tokenCacheFiles,
            byteLimit: Limits.tokenCacheBytes)
    }

    /// - Parameters:
    ///   - directory: need not exist.
    ///   - fileLimit: the most files that stay; the least recently used are removed.
    ///   - byteLimit: the most bytes of all files together.
    init(directory: String, fileLimit: Int, byteLimit: Int) {
        folder = CacheFolder(
            directory, suffix: ".tokens", fileLimit: fileLimit, byteLimit: byteLimit)
    }

    func path(of key: TokenCacheKey) -> String { folder.path(of: key.digest) }

    /// The encoded file of a key, or nil when there is none.
    ///
    /// - Parameters:
    ///   - key: of which `data` is a part.
    ///   - data: the data file itself; the first malformed line is read from it.
    ///   - vocabularySize: ids must be below.
    ///   - maximumLength: no row may be longer.
    /// - Returns: what was written for this key.
    /// - Throws: `TokenCacheFlaw` for a file that cannot be used; `FileError`.
    func read(
        _ key: TokenCacheKey, of data: DataFile, vocabularySize: Int, maximumLength: Int
    ) throws -> EncodedFile? {
        let path = path(of: key)
        let file: MappedFile
        do {
            file = try MappedFile(path: path)
            do {
                try folder.close()
            } catch FileError.failed("protect", _, let code)
                where [EROFS, EPERM, ENOTSUP].contains(code)
            {
                // The rights cannot be changed here; the file is read all the same.
            }
        } catch FileError.failed(_, _, ENOENT) {
            return nil
        }
        let reader = TokenCacheFile.Reader(
            key: key, data: data, vocabularySize: vocabularySize, maximumLength: maximumLength)
        let encoded = try file.withBytes { try reader.read($0) }
        folder.touch(key.digest)
        return encoded
    }

    /// Writes an encoded file, and removes others if there are too many.
    ///
    /// - Throws: `TokenCacheFlaw.tooLarge`; `FileError`.
    func write(_ file: EncodedFile, _ key: TokenCacheKey) throws {
        let bytes = TokenCacheFile.byteCount(of: file)
        guard bytes <= folder.byteLimit else {
            throw TokenCacheFlaw.tooLarge(bytes: bytes, limit: folder.byteLimit)
        }
        try AtomicFile.makeDirectory(directory, access: .own)
        try folder.close()
        try folder.write(key.digest) { output in
            try TokenCacheFile.write(file, key: key) { try output.append($0) }
        }
    }
}
