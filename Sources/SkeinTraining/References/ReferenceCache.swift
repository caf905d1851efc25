import Foundation
import SkeinBasics

/// Log-probabilities of groups of rows on disk, one file for each key:
/// `<SHA-256 of the key>.references`. A file may have some groups only: those that were computed before
/// the run was stopped.
///
/// Nothing in a file is trusted: its length and its SHA-256 must be right. Each can be removed at any
/// time. A log-probability does not tell what its row says, but only the owner may read the files, as with
/// tokens.
///
/// The magic number, the number of groups (u32), then for each group: its rows (u32; 0: the group is
/// missing, and nothing of it follows), the attempt (u32), the length of the worker's name (u32), the
/// name, and 8 bytes for each row (`LogProbabilityPayload`); at the end SHA-256 of all that. Numbers are
/// little endian.
package struct ReferenceCache: Sendable {
    private let folder: CacheFolder
    package var directory: String { folder.path }
    /// Called before anything is written; what it throws is not a warning, but ends the run.
    private let check: @Sendable () throws -> Void

    /// Why a file was not used or not written. The run is the same without it.
    package struct Warning: Sendable, Equatable {
        package let path: String
        package let detail: String

        package var text: String {
            "the log-probabilities under the reference model are not kept at \(path): \(detail)"
        }
    }

    /// - Parameters:
    ///   - directory: need not exist. By default `references` in the cache directory.
    ///   - calls: of the disk.
    ///   - check: whether this process may still write there.
    package init(
        directory: String = CacheDirectory.root + "/references",
        calls: any FileCalls = SystemCalls(), check: @escaping @Sendable () throws -> Void = {}
    ) {
        folder = CacheFolder(
            directory, suffix: ".references", fileLimit: Limits.referenceFiles, calls: calls)
        self.check = check
    }

    private static let magic = Array("SKEINRE2".utf8)

    /// The pieces of a key, nil for those that are missing; or nil when there is no file that can be used.
    ///
    /// - Parameters:
    ///   - key: of all rows.
    ///   - rows: of each group.
    ///   - warnings: why a file was not used.
    /// - Returns: one for each group.
    func read(
        _ key: SHA256.Digest, rows: [Int], _ warnings: inout [Warning]
    ) -> [ReferencePiece?]? {
        let path = folder.path(of: key)
        do {
            let file = try MappedFile(copying: path, in: folder.calls)
            let pieces = file.withBytes { Self.pieces($0, rows: rows) }
            if pieces == nil {
                warnings.append(Warning(path: path, detail: "it is damaged, so it is not used"))
            } else {
                folder.touch(key)
            }
            return pieces
        } catch FileError.failed(_, _, ENOENT) {
            return nil
        } catch {
            let reason = (error as? any Explained)?.explanation.what ?? "\(error)"
            warnings.append(Warning(path: path, detail: reason))
            return nil
        }
    }

    private static func pieces(
        _ bytes: UnsafeRawBufferPointer, rows: [Int]
    ) -> [ReferencePiece?]? {
        let digestBytes = 32
        guard bytes.count >= magic.count + 4 + digestBytes, bytes.starts(with: magic) else {
            return nil
        }
        let body = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - digestBytes)])
        guard bytes[body.count...].elementsEqual(SHA256.digest(of: body).bytes) else { return nil }
        var place = magic.count
        func take(_ count: Int) -> UnsafeRawBufferPointer? {
            guard count <= body.count - place else { return nil }
            defer { place += count }
            return UnsafeRawBufferPointer(rebasing: body[place..<(place + count)])
        }
        func number() -> Int? {
            take(4).map { Int(UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))) }
        }
        guard number() == rows.count else { return nil }
        var pieces: [ReferencePiece?] = []
        for count in rows {
            guard let found = number() else { return nil }
            if found == 0 {
                pieces.append(nil)
                continue
            }
            guard found == count, let attempt = number(), let length = number(),
                length <= WorkerName.mostBytes,
                let name = take(length).flatMap({ String(validating: $0, as: UTF8.self) }),
                let numbers = take(8 * count),
                let values = LogProbabilityPayload.values(Array(numbers), count: count),
                values.allSatisfy(ReferencePiece.isPossible)
            else { return nil }
            pieces.append(ReferencePiece(values: values, worker: name, attempt: attempt))
        }
        return place == body.count ? pieces : nil
    }

    private static func bytes(_ pieces: [ReferencePiece?]) -> [UInt8] {
        var bytes = magic
        func append(_ number: Int) {
            withUnsafeBytes(of: UInt32(clamping: number).littleEndian) { bytes += $0 }
        }
        append(pieces.count)
        for piece in pieces {
            append(piece?.values.count ?? 0)
            guard let piece else { continue }
            append(piece.attempt)
            let name = Array(piece.worker.utf8)
            append(name.count)
            bytes += name
            bytes += LogProbabilityPayload.bytes(of: piece.values)
        }
        return bytes + bytes.withUnsafeBytes { SHA256.digest(of: $0) }.bytes
    }

    /// Keeps the pieces of a key, nil for those that are missing.
    ///
    /// - Throws: what `check` throws.
    func write(
        _ pieces: [ReferencePiece?], _ key: SHA256.Digest, _ warnings: inout [Warning]
    ) throws {
        try check()
        let path = folder.path(of: key)
        let bytes = Self.bytes(pieces)
        do {
            try folder.write(key, check: check) { output in
                try bytes.withUnsafeBytes { try output.append($0) }
            }
        } catch {
            try check()
            let reason = (error as? any Explained)?.explanation.what ?? "\(error)"
            warnings.append(Warning(path: path, detail: reason))
        }
    }
}
