import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTraining

/// Fetches a base model from the coordinator into the cache, piece by piece, and continues where an
/// earlier attempt ended.
///
/// Runs on a thread of its own; the network's thread hands in the pieces. A file on disk counts
/// once its SHA-256 is the offer's.
package final class ModelFetch: Sendable {
    /// A piece that was asked for.
    private struct Expected: Sendable {
        let request: ModelRequest
        let byteCount: Int

        func isMet(by piece: ModelChunk) -> Bool {
            piece.file == request.file && piece.offset == request.offset
                && piece.bytes.count == byteCount
        }
    }

    private struct State: Sendable {
        /// Asked for and not yet here, in order: at most `Limits.pieceWindow`.
        var expected: [Expected] = []
        /// Here and not yet written. With `expected` they are never more than the window.
        var pieces: [ModelChunk] = []
        var isGone = false
    }

    private let files: [Offer.ModelFile]
    /// `models/<digest>` in the cache.
    package let directory: String
    private let progress: PreparationProgress
    private let patience: Duration
    private let log: Log
    private let calls: any FileCalls
    private let time: FetchTime
    private let pieceBytes: Int
    private let state = Condition(State())

    /// Fetches nothing yet.
    ///
    /// - Parameters:
    ///   - offer: whose model is fetched.
    ///   - cache: the directory of all of Skein's caches, see `ModelCache`.
    ///   - progress: counts, and says when the model is no longer wanted.
    ///   - patience: how long another process of this host that fetches the model may stand still.
    ///   - log: told when it does.
    ///   - calls: of the disk with the cache.
    ///   - time: how it waits.
    ///   - pieceBytes: what it asks for at a time; fewer only in a simulation.
    package init(
        offer: Offer, cache: String, progress: PreparationProgress, patience: Duration, log: Log,
        calls: any FileCalls = SystemCalls(), time: FetchTime = .system,
        pieceBytes: Int = SkeinCoordination.Limits.modelChunkBytes
    ) {
        self.calls = calls
        self.time = time
        self.pieceBytes = pieceBytes
        files = offer.modelFiles
        self.progress = progress
        self.patience = patience
        self.log = log
        directory = ModelCache.directory(of: offer.modelDigest, in: cache)
    }

    /// Takes a piece that has come: the next one that was asked for, and no other. So a coordinator
    /// cannot make this worker hold more than its window.
    ///
    /// - Returns: false if it is not that one; then it is dropped.
    package func receive(_ piece: ModelChunk) -> Bool {
        state.change { state in
            guard state.expected.first?.isMet(by: piece) == true else { return false }
            state.expected.removeFirst()
            state.pieces.append(piece)
            return true
        }
    }

    /// The connection is gone; `run` ends with `NodeError.connectionLost`.
    package func cancel() {
        state.change { $0.isGone = true }
    }

    /// Pieces that were asked for and are not yet written.
    package var openPieces: Int {
        state.change(waking: false) { $0.expected.count + $0.pieces.count }
    }

    /// Fetches what is missing.
    ///
    /// - Parameters:
    ///   - request: sends a request to the coordinator.
    ///   - report: called with the bytes that are here and the bytes in all.
    /// - Returns: the path of the model.
    /// - Throws: `FileError`; `NodeError.connectionLost`, `.modelDamaged`;
    ///   `CancellationError` when the model is no longer wanted.
    package func run(
        request: (ModelRequest) -> Void, report: (UInt64, UInt64) -> Void
    ) throws -> String {
        try AtomicFile.makeDirectory(directory, in: calls)
        let lock = try FetchLock(directory: directory, in: calls, now: time.now)
        defer { withExtendedLifetime(lock) {} }
        let isAlone = try waitForTurn(lock)
        for file in files {
            try PartialFile.removeLeftovers(
                beside: ModelCache.path(of: file, in: directory), in: calls)
        }
        let total = files.reduce(UInt64(0)) { $0 &+ $1.byteCount }
        var before: UInt64 = 0
        for (index, file) in files.enumerated() {
            try fetch(
                file, index: UInt32(index), isAlone: isAlone,
                note: { [progress] count in
                    if isAlone { lock.touch() }
                    try progress.addOrEnd(count)
                }, request: request, report: { report(before &+ $0, total) })
            before &+= file.byteCount
        }
        return ModelCache.path(of: files, in: directory)
    }

    /// Waits until no other process of this host fetches the model, or one that does stands still.
    ///
    /// - Returns: whether no other does.
    private func waitForTurn(_ lock: FetchLock) throws -> Bool {
        var wait = FetchWait(patience: patience)
        let began = time.now()
        defer { progress.waitsForOther = false }
        while try !lock.take() {
            if state.change(waking: false, { $0.isGone }) { throw NodeError.connectionLost }
            progress.waitsForOther = true
            switch wait.look(at: try lock.sign(), now: time.now() - began) {
            case .waits: break
            case .moves(let byteCount):
                // What another process of this host fetches is progress of this worker, too.
                try progress.addOrEnd(Int(clamping: max(1, byteCount)))
            case .standsStill(let time):
                log.warning(
                    "another process of this host fetches the model and has not got on for "
                        + "\(time.inWords); this worker fetches it beside that one")
                return false
            }
            calls.pause(microseconds: 200_000)
        }
        return true
    }

    /// Fetches a file unless it is there; into a partial file of its own if another process has the
    /// usual one open (not `isAlone`).
    private func fetch(
        _ file: Offer.ModelFile, index: UInt32, isAlone: Bool, note: (Int) throws -> Void,
        request: (ModelRequest) -> Void, report: (UInt64) -> Void
    ) throws {
        let path = ModelCache.path(of: file, in: directory)
        if try ModelCache.isIntact(path, file, in: calls, note: note) {
            // A process may have begun it and been stopped, until another one had fetched all of it.
            if isAlone, calls.isThere(path + ".part") { _ = try calls.unlink(path + ".part") }
            return
        }
        let output =
            isAlone
            ? try PartialFile(path: path + ".part", limit: file.byteCount, in: calls)
            : try PartialFile(ownBeside: path, in: calls)
        do {
            try fill(output, with: file, index: index, note: note, request: request, report: report)
            guard try ModelCache.isIntact(output.path, file, in: calls, note: note) else {
                // It must start over: which part is wrong is not known.
                try calls.unlink(output.path).get("remove", output.path)
                throw NodeError.modelDamaged(path: path)
            }
            try calls.rename(output.path, to: path).get("rename into place", path)
        } catch {
            // Another attempt cannot continue it.
            if !isAlone { _ = try calls.unlink(output.path) }
            throw error
        }
        try AtomicFile.syncDirectory(of: path, in: calls)
    }

    /// Asks for what a file lacks, and writes it durably.
    private func fill(
        _ output: PartialFile, with file: Offer.ModelFile, index: UInt32,
        note: (Int) throws -> Void, request: (ModelRequest) -> Void, report: (UInt64) -> Void
    ) throws {
        var asked = output.count
        while output.count < file.byteCount {
            while asked < file.byteCount, asked - output.count < windowBytes {
                let next = ModelRequest(file: index, offset: asked)
                let count = min(UInt64(pieceBytes), file.byteCount - asked)
                state.change(waking: false) {
                    $0.expected.append(Expected(request: next, byteCount: Int(count)))
                }
                request(next)
                asked += count
            }
            let piece = try nextPiece()
            try output.append(piece.bytes)
            try note(piece.bytes.count)
            report(output.count)
        }
        try output.finish()
    }

    private var windowBytes: UInt64 {
        UInt64(SkeinCoordination.Limits.pieceWindow * pieceBytes)
    }

    private func nextPiece() throws -> ModelChunk {
        try time.wait? { [state] in
            state.change(waking: false) { $0.isGone || !$0.pieces.isEmpty }
        }
        let piece: ModelChunk?? = state.wait { state in
            if state.isGone { return .some(nil) }
            return state.pieces.isEmpty ? nil : .some(state.pieces.removeFirst())
        }
        guard let piece, let piece else { throw NodeError.connectionLost }
        return piece
    }
}
