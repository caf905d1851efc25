import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// Fetches a base model from the coordinator into the cache, piece by piece, and continues where an
/// earlier attempt ended.
///
/// Runs on a thread of its own; the network's thread hands in the pieces. A file on disk counts
/// once its SHA-256 is the offer's.
final class ModelFetch: Sendable {
    /// Pieces asked for and not yet here: enough to keep a line of 1 Gbit/s and 30 ms busy.
    private static let window = 4

    private struct State: Sendable {
        var pieces: [ModelChunk] = []
        var isGone = false
    }

    let files: [Offer.ModelFile]
    /// `models/<digest>` in the cache.
    let directory: String
    private let progress: PreparationProgress
    private let state = Condition(State())

    /// Fetches nothing yet; `cache` is the directory of all of Skein's caches, see `ModelCache`.
    init(offer: Offer, cache: String, progress: PreparationProgress) {
        files = offer.modelFiles
        self.progress = progress
        directory = ModelCache.directory(of: offer.modelDigest, in: cache)
    }

    /// Takes a piece that has come.
    func receive(_ piece: ModelChunk) {
        state.change { $0.pieces.append(piece) }
    }

    /// The connection is gone; `run` ends with `NodeError.connectionLost`.
    func cancel() {
        state.change { $0.isGone = true }
    }

    /// Fetches what is missing.
    ///
    /// - Parameters:
    ///   - request: sends a request to the coordinator.
    ///   - report: called with the bytes that are here and the bytes in all.
    /// - Returns: the path of the model.
    /// - Throws: `FileError`; `NodeError.connectionLost`, `.modelPieceDamaged`, `.modelDamaged`;
    ///   `CancellationError` when the model is no longer wanted.
    func run(
        request: (ModelRequest) -> Void, report: (UInt64, UInt64) -> Void
    ) throws -> String {
        try AtomicFile.makeDirectory(directory)
        let lock = try FetchLock(directory: directory) { state.change(waking: false) { $0.isGone } }
        defer { withExtendedLifetime(lock) {} }
        let total = files.reduce(UInt64(0)) { $0 &+ $1.byteCount }
        var before: UInt64 = 0
        for (index, file) in files.enumerated() {
            try fetch(
                file, index: UInt32(index), request: request,
                report: { report(before &+ $0, total) })
            before &+= file.byteCount
        }
        return ModelCache.path(of: files, in: directory)
    }

    private func fetch(
        _ file: Offer.ModelFile, index: UInt32, request: (ModelRequest) -> Void,
        report: (UInt64) -> Void
    ) throws {
        let path = ModelCache.path(of: file, in: directory)
        if try ModelCache.isIntact(path, file, progress: progress) { return }
        let partial = path + ".part"
        let output = try PartialFile(path: partial, limit: file.byteCount)
        var asked = output.count
        while output.count < file.byteCount {
            while asked < file.byteCount, asked - output.count < Self.windowBytes {
                request(ModelRequest(file: index, offset: asked))
                asked += min(
                    UInt64(SkeinCoordination.Limits.modelChunkBytes), file.byteCount - asked)
            }
            let piece = try nextPiece()
            guard piece.file == index, piece.offset == output.count, !piece.bytes.isEmpty,
                UInt64(piece.bytes.count) <= asked - output.count
            else { throw NodeError.modelPieceDamaged(file: file.name, offset: output.count) }
            try output.append(piece.bytes)
            try progress.addOrEnd(piece.bytes.count)
            report(output.count)
        }
        try output.finish()
        guard try ModelCache.isIntact(partial, file, progress: progress) else {
            // It must start over: nobody knows which part is wrong.
            try FileManager.default.removeItem(atPath: partial)
            throw NodeError.modelDamaged(path: path)
        }
        guard rename(partial, path) == 0 else {
            throw FileError.failed(operation: "rename into place", path: path, code: errno)
        }
        try AtomicFile.syncDirectory(of: path)
    }

    private static var windowBytes: UInt64 {
        UInt64(window * SkeinCoordination.Limits.modelChunkBytes)
    }

    private func nextPiece() throws -> ModelChunk {
        let piece: ModelChunk?? = state.wait { state in
            if state.isGone { return .some(nil) }
            return state.pieces.isEmpty ? nil : .some(state.pieces.removeFirst())
        }
        guard let piece, let piece else { throw NodeError.connectionLost }
        return piece
    }
}

/// Makes workers of one machine fetch a model one after the other: the second finds it there.
private final class FetchLock {
    private let descriptor: Int32

    init(directory: String, isCancelled: () -> Bool) throws {
        let path = directory + "/.lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "create", path: path, code: errno)
        }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw FileError.failed(operation: "lock", path: path, code: errno)
            }
            if isCancelled() { throw NodeError.connectionLost }
            Thread.sleep(forTimeInterval: 0.2)
        }
    }

    /// Also runs for an `init` that threw after it had opened the descriptor.
    deinit { if descriptor >= 0 { close(descriptor) } }
}
