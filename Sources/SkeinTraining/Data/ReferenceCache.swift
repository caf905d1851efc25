import Foundation
import SkeinBasics

/// Log-probabilities of rows on disk, one file for each key: `<SHA-256 of the key>.references`.
///
/// Nothing in a file is trusted: its length and its SHA-256 must be right. Each can be removed at any
/// time. Of a log-probability nobody reads the row, but only the owner may read the files, as with tokens.
package struct ReferenceCache: Sendable {
    package let directory: String
    /// Called before anything is written; what it throws is not a warning, but ends the run.
    private let check: @Sendable () throws -> Void

    /// Why a file was not used or not written. The run is the same without it.
    package struct Warning: Sendable, Equatable {
        package let path: String
        package let detail: String

        package var text: String {
            "the log-probabilities under the base model are not kept at \(path): \(detail)"
        }
    }

    /// - Parameters:
    ///   - directory: need not exist. By default `references` in the cache directory.
    ///   - check: whether this process may still write there.
    package init(
        directory: String = CacheDirectory.root + "/references",
        check: @escaping @Sendable () throws -> Void = {}
    ) {
        self.directory = directory
        self.check = check
    }

    private static let magic = Array("SKEINREF".utf8)
    private static let suffix = ".references"

    private func path(of key: SHA256.Digest) -> String {
        FilePath.join(directory, key.description + Self.suffix)
    }

    /// The numbers of a key, or nil when there are none that can be used.
    func read(_ key: SHA256.Digest, count: Int, _ warnings: inout [Warning]) -> [Double]? {
        let path = path(of: key)
        do {
            let values = try MappedFile(path: path).withBytes { bytes in
                Self.values(bytes, count: count)
            }
            if values == nil {
                warnings.append(Warning(path: path, detail: "it is damaged, so it was made again"))
            } else {
                // The time of use decides what stays.
                _ = utimensat(AT_FDCWD, path, nil, 0)
            }
            return values
        } catch FileError.failed(_, _, ENOENT) {
            return nil
        } catch {
            let reason = (error as? any Explained)?.explanation.what ?? "\(error)"
            warnings.append(Warning(path: path, detail: reason))
            return nil
        }
    }

    private static func values(_ bytes: UnsafeRawBufferPointer, count: Int) -> [Double]? {
        let size = magic.count + 8 * count + 32
        guard bytes.count == size, bytes.starts(with: magic) else { return nil }
        let digest = SHA256.digest(of: UnsafeRawBufferPointer(rebasing: bytes[..<(size - 32)]))
        guard bytes[(size - 32)...].elementsEqual(digest.bytes) else { return nil }
        return (0..<count).map { index in
            Double(
                bitPattern: UInt64(
                    littleEndian: bytes.loadUnaligned(
                        fromByteOffset: magic.count + 8 * index, as: UInt64.self)))
        }
    }

    /// Keeps the numbers of a key.
    ///
    /// - Throws: what `check` throws.
    func write(
        _ values: [Double], _ key: SHA256.Digest, _ warnings: inout [Warning]
    ) throws {
        try check()
        let path = path(of: key)
        var bytes = Self.magic
        bytes.reserveCapacity(Self.magic.count + 8 * values.count + 32)
        for value in values {
            withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 }
        }
        bytes += bytes.withUnsafeBytes { SHA256.digest(of: $0) }.bytes
        do {
            try AtomicFile.makeDirectory(directory, access: .own)
            try AtomicFile.write(to: path, access: .own, check: check) { output in
                try bytes.withUnsafeBytes { try output.append($0) }
            }
            try prune(keeping: path)
        } catch {
            try check()
            let reason = (error as? any Explained)?.explanation.what ?? "\(error)"
            warnings.append(Warning(path: path, detail: reason))
        }
    }

    /// Removes the least recently used files beyond `Limits.referenceFiles`.
    private func prune(keeping kept: String) throws {
        var entries: [(path: String, seconds: Int)] = []
        for name in try DiskStore().names(in: directory) where name.hasSuffix(Self.suffix) {
            let path = FilePath.join(directory, name)
            var status = stat()
            guard path != kept, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG
            else { continue }
            entries.append((path, Int(status.st_mtim.tv_sec)))
        }
        entries.sort { ($0.seconds, $0.path) > ($1.seconds, $1.path) }
        for entry in entries.dropFirst(Limits.referenceFiles - 1) {
            // Another process may have removed it first.
            if unlink(entry.path) != 0, errno != ENOENT {
                throw FileError.failed(operation: "remove", path: entry.path, code: errno)
            }
        }
    }
}
