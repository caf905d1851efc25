import Foundation
import SkeinBasics
import SkeinJSON

/// The cache that Python's huggingface_hub has, too:
///
///     models--ORG--NAME/blobs/ETAG            bytes, named by their digest
///     models--ORG--NAME/refs/REVISION         the commit that a branch or tag had last
///     models--ORG--NAME/snapshots/COMMIT/FILE a link to ../../blobs/ETAG
///     models--ORG--NAME/.skein/COMMIT         the files of a whole model, a line for each; ours alone
///     models--ORG--NAME/.skein/COMMIT.adapter those of a whole adapter
///     .locks/models--ORG--NAME/ETAG.lock      held with flock(2) while the blob is downloaded
package struct HubCache: Sendable {
    package let directory: String
    package let reference: HubReference

    package init(directory: String, reference: HubReference) {
        self.directory = directory
        self.reference = reference
    }

    private var folder: String { "models--\(reference.organization)--\(reference.name)" }
    private var repository: String { FilePath.join(directory, folder) }

    package func blob(_ etag: String) -> String { repository + "/blobs/" + etag }
    package func partial(_ etag: String) -> String { blob(etag) + ".incomplete" }
    package func lock(_ etag: String) -> String {
        FilePath.join(directory, ".locks/\(folder)/\(etag).lock")
    }
    package func snapshot(_ commit: String) -> String { repository + "/snapshots/" + commit }

    /// What a command opens: the folder of a snapshot, or the named file in it.
    package func path(of commit: String) -> String {
        guard let file = reference.file else { return snapshot(commit) }
        return snapshot(commit) + "/" + HubSelection.parts(of: file)[0]
    }

    /// The first bytes of a file; nil: there is none.
    ///
    /// - Throws: `FileError`: what cannot be read may well be there.
    private static func bytes(of path: String, limit: Int) throws -> [UInt8]? {
        guard try FileKind.at(path) == .regular else { return nil }
        do {
            return try RegularFile.bytes(of: path, from: 0, limit: limit)
        } catch FileError.failed(_, _, let code) where FileKind.isNothing(code) {
            // Another process, which may replace it, took it away after that look.
            return nil
        } catch FileError.shortRead {
            // Another process is writing it: it says nothing yet.
            return []
        }
    }

    /// The commit that the reference's revision had when it was last asked for; nil: never.
    ///
    /// - Throws: `FileError`.
    package func commit() throws -> String? {
        if HubNames.isCommit(reference.revision) { return reference.revision }
        let path = repository + "/refs/" + reference.revision
        guard let bytes = try Self.bytes(of: path, limit: 64) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return HubNames.isCommit(text) ? text : nil
    }

    /// The path of a model or an adapter if all of it is here for certain: the named file, or a folder
    /// that was once pulled whole. No server is asked.
    ///
    /// - Parameter kind: What it is wanted as; nil: either.
    /// - Returns: A folder or a file; nil if something is missing.
    /// - Throws: `FileError`.
    package func findWhole(as kind: HubKind? = nil) throws -> String? {
        guard let commit = try commit() else { return nil }
        if reference.file != nil { return try find(as: kind) }
        let folder = snapshot(commit)
        let isHere = Self.kinds(kind).contains { kind in
            recorded(commit, kind)?.allSatisfy { access(folder + "/" + $0, R_OK) == 0 } ?? false
        }
        return isHere ? path(of: commit) : nil
    }

    /// The path if all of it seems to be here: another tool may have left out what it did not need,
    /// such as the chat template. No server is asked.
    ///
    /// - Parameter kind: What it is wanted as; nil: either.
    /// - Returns: A folder or a file; nil if something is missing.
    /// - Throws: `FileError`.
    package func find(as kind: HubKind? = nil) throws -> String? {
        guard let commit = try commit(),
            try Self.kinds(kind).contains(where: { try isWhole(commit, $0) })
        else { return nil }
        return path(of: commit)
    }

    private static func kinds(_ kind: HubKind?) -> [HubKind] {
        kind.map { [$0] } ?? HubKind.allCases
    }

    private func record(_ commit: String, _ kind: HubKind) -> String {
        repository + "/.skein/" + commit + (kind == .model ? "" : "." + kind.rawValue)
    }

    /// Notes which files a whole model or adapter has.
    ///
    /// - Throws: `FileError`.
    package func record(_ files: [String], of commit: String, as kind: HubKind) throws {
        guard reference.file == nil else { return }
        try replace(record(commit, kind), by: files.sorted().map { $0 + "\n" }.joined())
    }

    /// Those files; nil when none were noted.
    private func recorded(_ commit: String, _ kind: HubKind) -> [String]? {
        let path = record(commit, kind)
        // In a shared cache another user's notes may be closed to this one. Without them the server is
        // asked, or the files decide.
        guard let bytes = try? Self.bytes(of: path, limit: Limits.indexBytes + 1),
            bytes.count <= Limits.indexBytes
        else { return nil }
        let names = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        return !names.isEmpty && names.allSatisfy(HubNames.isFilePath) ? names : nil
    }

    /// Writes a small file. A link is replaced, not followed.
    private func replace(_ path: String, by text: String) throws {
        try AtomicFile.makeDirectory(FilePath.parent(of: path))
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(path) }
        try Unfinished.removeAbandoned(beside: path)
        try AtomicFile.write(text, to: path)
    }

    /// Whether the configuration and all weights, or all parts of the named file, are here.
    private func isWhole(_ commit: String, _ kind: HubKind) throws -> Bool {
        let folder = snapshot(commit)
        func has(_ name: String) -> Bool { access(folder + "/" + name, R_OK) == 0 }
        if let file = reference.file { return HubSelection.parts(of: file).allSatisfy(has) }
        guard try FileKind.at(folder) == .directory else { return false }
        let names = try DiskStore().names(in: folder)
        if kind == .adapter {
            return HubSelection.folder(.adapter, among: names)?.allSatisfy(has) ?? false
        }
        guard has("config.json") else { return false }
        let hasTokenizer = names.contains {
            ($0.hasPrefix("tokenizer") && $0 != "tokenizer_config.json" || $0.hasSuffix(".model")
                || $0 == "vocab.json" || $0 == "vocab.txt" || $0 == "tekken.json") && has($0)
        }
        guard hasTokenizer else { return false }
        if let shards = try shards(folder + "/model.safetensors.index.json") {
            return !shards.isEmpty && shards.allSatisfy(has)
        }
        let weights = names.filter {
            $0.hasSuffix(".safetensors") && !HubSelection.isAdapterFile($0)
        }
        return !weights.isEmpty
            && weights.allSatisfy { HubSelection.parts(of: $0).allSatisfy(has) }
    }

    /// Names of the files that an index lists; nil when there is no index, empty when it is bad.
    private func shards(_ path: String) throws -> Set<String>? {
        struct Index: Decodable {
            var files: [String: String]
            enum CodingKeys: String, CodingKey { case files = "weight_map" }
        }
        guard let bytes = try Self.bytes(of: path, limit: Limits.indexBytes + 1) else { return nil }
        // With a bad index the model is not whole, so it is downloaded anew.
        guard bytes.count <= Limits.indexBytes,
            let index = try? JSONTree.decode(Index.self, from: bytes)
        else { return [] }
        let names = Set(index.files.values)
        return names.allSatisfy(HubNames.isFilePath) ? names : []
    }

    /// Notes which commit the revision has now.
    ///
    /// - Throws: `FileError`.
    package func remember(_ commit: String) throws {
        guard commit != reference.revision else { return }
        try replace(repository + "/refs/" + reference.revision, by: commit)
    }

    /// Makes the link from `file` of the snapshot to its blob, or replaces it.
    ///
    /// - Throws: `FileError`.
    package func link(_ file: String, of commit: String, to etag: String) throws {
        let path = snapshot(commit) + "/" + file
        let depth = file.utf8.count { $0 == UInt8(ascii: "/") }
        let target = String(repeating: "../", count: depth + 2) + "blobs/" + etag
        // Not in the snapshot, where a killed process would leave what looks like a file of the model.
        var temporary = repository + "/.skein/link-\(depth)-\(etag)"
        // That folder may be another user's, where the cache is shared.
        let beside = FilePath.parent(of: path) + "/.link-\(etag).tmp-" + AtomicFile.mark
        while true {
            // What is no link, or leads elsewhere, is replaced.
            let found = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            if found == target { return }
            try AtomicFile.makeDirectory(FilePath.parent(of: path))
            try AtomicFile.makeDirectory(FilePath.parent(of: temporary))
            // One that a killed process left, or another one makes now, leads to the same place.
            guard symlink(target, temporary) == 0 || errno == EEXIST else {
                let code = errno
                if [EACCES, EPERM].contains(code), temporary != beside {
                    temporary = beside
                    continue
                }
                throw FileError.failed(operation: "link", path: temporary, code: code)
            }
            if rename(temporary, path) == 0 { return try AtomicFile.syncDirectory(of: path) }
            let code = errno
            // Another process has used it for its own path: again.
            if code == ENOENT { continue }
            unlink(temporary)
            throw FileError.failed(operation: "link", path: path, code: code)
        }
    }
}
