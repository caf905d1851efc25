import Foundation
import SkeinBasics
import SkeinCoordination

/// Where models fetched from a coordinator are kept: `models/<SHA-256>` in the cache.
enum ModelCache {
    static func directory(of digest: [UInt8], in cache: String) -> String {
        cache + "/models/" + (SHA256.Digest(digest)?.description ?? "unknown")
    }

    /// A GGUF file has no name of its own on the wire.
    static func path(of file: Offer.ModelFile, in directory: String) -> String {
        directory + "/" + (file.name.isEmpty ? "model.gguf" : file.name)
    }

    /// The path as `--model` takes it: the file itself, or the folder.
    static func path(of files: [Offer.ModelFile], in directory: String) -> String {
        if files.count == 1, let only = files.first, only.name.isEmpty {
            return path(of: only, in: directory)
        }
        return directory
    }

    /// Whether the file is there with the right length and SHA-256; `note` is told how many bytes
    /// have been hashed. Bytes are read, not mapped: a sector that cannot be read is an error.
    static func isIntact(
        _ path: String, _ file: Offer.ModelFile, in calls: any FileCalls,
        note: (Int) throws -> Void
    ) throws -> Bool {
        guard calls.isThere(path) else { return false }
        do {
            let found = try RegularFile.digest(
                of: path, in: calls,
                check: { if UInt64($0) != file.byteCount { throw OtherSize() } }, progress: note)
            return found.digest.bytes == file.digest
        } catch is OtherSize {
            return false
        }
    }

    private struct OtherSize: Error {}
}
