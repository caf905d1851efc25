import Foundation
import SkeinBasics
import Synchronization

/// What the frozen blocks made of rows, on disk: one file for each `FeatureKey`, to which rows are
/// appended, by several processes if there are some.
///
/// A row is used if its SHA-256 is right, and else computed again: damage changes nothing. No
/// process waits for another: if one is writing, a row is not kept this time. Features tell about
/// the rows that they were made of, so only the owner may read them.
package final class FeatureStore: Sendable {
    package let key: FeatureKey
    package let path: String
    private let limit: Int
    private let file: FeatureFile
    private let state: Mutex<State>
    /// Whether rows are still kept. Held while one is appended; readers need not wait for it.
    private let writing = Mutex<Bool>(true)

    private struct State {
        var places: [FeatureName: (offset: Int, tokens: Int)] = [:]
        /// Where the records that are known end.
        var end = FeatureStore.startBytes
        var warnings: [FeatureWarning] = []
        /// Kinds of warnings that were given.
        var warned: Set<Int> = []
    }

    /// How names of files of features end.
    package static let suffix = ".features"
    private static let magic = Array("SKEINFT1".utf8)
    static let startBytes = 40

    /// Opens the file of `key`, or makes it.
    ///
    /// - Parameters:
    ///   - key: of the features.
    ///   - settings: the directory, made for the owner alone if it is missing, and its limit.
    ///   - calls: of the disk.
    /// - Throws: `FileError`, `FeatureError.foreign`.
    package init(
        _ key: FeatureKey, settings: FeatureSettings, calls: any FileCalls = SystemCalls()
    ) throws {
        self.key = key
        limit = settings.limit
        path = settings.folder.path(of: key.digest)
        if !calls.isThere(settings.directory) {
            try AtomicFile.makeDirectory(settings.directory, access: .own, in: calls)
        }
        file = try FeatureFile(path, in: calls)
        state = Mutex(State())
        try start()
    }

    /// Checks the file's beginning, writes it if need be, and looks at what is there.
    private func start() throws {
        // If another process is writing, it has made the beginning, or will have; each row is checked
        // against the key, too.
        do {
            _ = try file.locked { try begin() }
        } catch FileError.failed("read", _, EIO) {
            // Rows have their own checksums, with the key, and can be used.
            writing.withLock { $0 = false }
            warn(.notWritten(path: path, detail: "the file's beginning cannot be read"))
        }
        state.withLock { catchUp(&$0) }
    }

    /// Begins the file anew unless it is one of this key.
    private func begin() throws {
        let beginning = Self.magic + key.digest.bytes
        let found = file.read(at: 0, count: Self.startBytes)
        if found == beginning { return }
        // What a disk cannot read now is no reason to throw all rows away.
        if found == nil, (file.size ?? .max) >= Self.startBytes {
            throw FileError.failed(operation: "read", path: path, code: EIO)
        }
        try file.write(beginning, at: 0)
    }

    /// Rows that are known to be there.
    package var rowCount: Int { state.withLock { $0.places.count } }

    /// Bytes of the file, as far as it is known.
    package var byteCount: Int { state.withLock(\.end) }

    /// Warnings since the last call, each kind once.
    package func takeWarnings() -> [FeatureWarning] {
        state.withLock { state in
            defer { state.warnings = [] }
            return state.warnings
        }
    }

    private func warn(_ warning: FeatureWarning) {
        state.withLock {
            if $0.warned.insert(warning.kind).inserted { $0.warnings.append(warning) }
        }
    }

    // MARK: Reading

    /// Whether a row is there, as far as the index knows.
    package func has(_ name: FeatureName) -> Bool { state.withLock { $0.places[name] != nil } }

    /// Reads a row's features.
    ///
    /// - Parameters:
    ///   - name: of its tokens.
    ///   - tokens: how many they are.
    ///   - features: [tokens, width], overwritten.
    /// - Returns: false if they are not there.
    package func read(
        _ name: FeatureName, tokens: Int, into features: UnsafeMutablePointer<Float>
    ) -> Bool {
        let place = state.withLock { state in
            if state.places[name] == nil { catchUp(&state) }
            return state.places[name]
        }
        guard let place, place.tokens == tokens else { return false }
        let record = FeatureRecord(name: name, tokens: tokens)
        let count = FeatureRecord.bytes(tokens: tokens, key)
        if let bytes = file.read(at: place.offset, count: count),
            record.unpack(bytes, key, into: features)
        {
            return true
        }
        // Once it is forgotten, it is computed and appended again.
        state.withLock { state in
            if state.places[name]?.offset == place.offset { state.places[name] = nil }
        }
        warn(.damaged(path: path))
        return false
    }

    /// Takes records into the index that have been appended since.
    private func catchUp(_ state: inout State) {
        guard let size = file.size else { return }
        if size < state.end {
            // Another process has begun anew.
            state.places = [:]
            state.end = Self.startBytes
        }
        while state.end + FeatureRecord.headBytes <= size, state.places.count < Limits.featureRows,
            let head = file.read(at: state.end, count: FeatureRecord.headBytes),
            let record = head.withUnsafeBytes({ FeatureRecord(head: $0) })
        {
            let end = state.end + FeatureRecord.bytes(tokens: record.tokens, key)
            // Now, not before the head was read: what a killed process left may have been cut since then, and a
            // shorter row be on its way into its place.
            guard let size = file.size, end <= size else { break }
            state.places[record.name] = (state.end, record.tokens)
            state.end = end
        }
    }

    // MARK: Writing

    /// Whether rows of so many bytes fit behind those that are there.
    func hasRoom(for bytes: Int) -> Bool { byteCount + bytes <= limit }

    /// Forgets all rows: they are those of other data.
    ///
    /// - Throws: `FileError`.
    package func beginAnew() throws {
        try writing.withLock { canWrite in
            _ = try file.locked { try file.write(Self.magic + key.digest.bytes, at: 0) }
            state.withLock { catchUp(&$0) }
            canWrite = true
        }
    }

    /// Appends a row's features, unless they are there, the file is full, or another process is just
    /// writing.
    ///
    /// - Parameters:
    ///   - name: of its tokens.
    ///   - tokens: how many they are.
    ///   - features: [tokens, width].
    package func keep(_ name: FeatureName, tokens: Int, _ features: UnsafePointer<Float>) {
        guard writing.withLock({ $0 }), !has(name) else { return }
        // Before others are locked out: a long row's hash takes a while.
        let record = FeatureRecord(name: name, tokens: tokens).packed(features, key)
        writing.withLock { canWrite in
            guard canWrite else { return }
            do {
                // nil: another process is writing.
                let refusal = try file.locked { try append(record, name, tokens: tokens) }
                if let refusal, let warning = refusal {
                    canWrite = false
                    warn(warning)
                }
            } catch {
                canWrite = false
                let detail = (error as? any Explained)?.explanation.what ?? "\(error)"
                warn(.notWritten(path: path, detail: detail))
            }
        }
    }

    /// - Returns: why nothing more can be kept.
    private func append(
        _ record: [UInt8], _ name: FeatureName, tokens: Int
    ) throws -> FeatureWarning? {
        try begin()
        let end: Int? = state.withLock { state in
            catchUp(&state)
            if let size = file.size, size > state.end {
                // A killed process left a part of a row, or another one has begun anew: what is cut off
                // must be no good row.
                state.places = [:]
                state.end = Self.startBytes
                catchUp(&state)
            }
            // A damaged one that was forgotten comes back with a rescan.
            if let place = state.places[name],
                file.read(at: place.offset, count: record.count) == record
            {
                return nil
            }
            return state.end
        }
        guard let end else { return nil }
        guard end + record.count <= limit, rowCount < Limits.featureRows else {
            return .full(path: path, bytes: end)
        }
        if let free = file.freeBytes, free < record.count + Limits.featureReserve {
            return .notWritten(
                path: path,
                detail: "less than \(Limits.featureReserve >> 20) MiB of the disk are free")
        }
        // What follows the last whole record is what a killed process left of one.
        try file.write(record, at: end)
        state.withLock {
            $0.places[name] = (end, tokens)
            $0.end = end + record.count
        }
        return nil
    }
}
