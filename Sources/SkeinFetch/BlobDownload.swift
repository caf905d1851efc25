import Foundation
import FoundationNetworking
import SkeinBasics
import SkeinHub

/// Brings one blob into the cache: continues what is there, checks it, and gives it its name.
struct BlobDownload {
    let server: HubServer
    let cache: HubCache
    let reference: HubReference
    let file: String
    let metadata: HubServer.Metadata
    let report: Report
    private let calls = SystemCalls()

    /// Asked for at once. The session hands bytes on faster than a disk may take them, and what it
    /// keeps meanwhile is at most this.
    private static let pieceBytes = 64 << 20
    /// The size of a file that may come whole, from a server that knows no ranges.
    private static let wholeBytes = 1 << 30
    /// An attempt that brought fewer bytes before it failed has brought none.
    private static let movedBytes = 1 << 14
    /// Answers for one piece, which a server may give in parts of it.
    private static let answersForPiece = 32
    /// How long the process that has the lock may bring no new byte.
    private static let lockPatience: Duration = .seconds(600)

    func run() throws {
        if try isThere() { return }
        try withLock {
            if try isThere() { return }
            let partial = cache.partial(metadata.etag)
            try AtomicFile.makeDirectory(FilePath.parent(of: partial))
            do throws(HubError) {
                try download(partial)
            } catch .wrongBytes {
                // What was there before may have been wrong; from zero, once.
                try download(partial)
            }
            let blob = cache.blob(metadata.etag)
            guard rename(partial, blob) == 0 else { throw failure("rename", blob) }
            try AtomicFile.syncDirectory(of: blob)
        }
    }

    /// Whether the cache has the file, with the right bytes.
    private func isThere() throws -> Bool {
        let blob = cache.blob(metadata.etag)
        let opened = uninterrupted { calls.open(blob, O_RDONLY, mode: 0) }
        if opened.code == ENOENT { return false }
        let descriptor = try done(opened, "open", blob)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int(status.st_size) == metadata.size,
            try digest(descriptor, blob) == metadata.etag
        else { return false }
        report.show(metadata.size)
        return true
    }

    private var partialSize: Int {
        var status = stat()
        return stat(cache.partial(metadata.etag), &status) == 0 ? Int(status.st_size) : 0
    }

    private func failure(_ operation: String, _ path: String) -> HubError {
        .storage(path: path, operation: operation, code: errno)
    }

    /// What a call to the system gave.
    private func done<Value>(
        _ result: CallResult<Value>, _ operation: String, _ path: String
    ) throws(HubError) -> Value {
        switch result {
        case .done(let value): return value
        case .failed(let code):
            throw .storage(path: path, operation: operation, code: code)
        }
    }

    /// Holds the lock that huggingface_hub holds, too.
    private func withLock(_ body: () throws -> Void) throws {
        let path = cache.lock(metadata.etag)
        try AtomicFile.makeDirectory(FilePath.parent(of: path))
        let descriptor = try done(
            uninterrupted { calls.open(path, O_RDWR | O_CREAT, mode: 0o644) }, "open", path)
        defer { close(descriptor) }
        var end = ContinuousClock.now + Self.lockPatience
        var size = partialSize
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("lock", path) }
            guard ContinuousClock.now < end else { throw HubError.locked(file: file) }
            if partialSize != size {
                size = partialSize
                end = .now + Self.lockPatience
            }
            report.wait(for: file)
            usleep(100_000)
        }
        try body()
    }

    private func download(_ partial: String) throws(HubError) {
        let opened = uninterrupted {
            calls.open(partial, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o644)
        }
        let descriptor = try done(opened, "open", partial)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("inspect", partial) }
        var offset = Int(status.st_size)
        // Longer than the file: it is something else's.
        if offset > metadata.size { offset = 0 }
        do {
            var answers = Self.answersForPiece * (metadata.size / Self.pieceBytes + 2)
            while offset < metadata.size {
                answers -= 1
                guard answers > 0 else {
                    throw HubError.badAnswer(place: file, problem: "it comes in too small parts")
                }
                offset = try piece(from: offset, into: descriptor, partial)
            }
            try cut(descriptor, to: offset, partial)
            guard AtomicFile.flush(descriptor) else { throw failure("write", partial) }
            let found = try digest(descriptor, partial)
            guard found == metadata.etag else {
                guard unlink(partial) == 0 else { throw failure("remove", partial) }
                throw HubError.wrongBytes(file: file, expected: metadata.etag, found: found)
            }
        } catch let error as HubError {
            throw error
        } catch {
            // `piece` and `digest` throw nothing else; the compiler cannot know.
            throw .badAnswer(place: file, problem: String(describing: type(of: error)))
        }
    }

    /// Asks for the bytes from `start` on, and writes what comes.
    ///
    /// - Returns: The offset behind the last byte written.
    private func piece(from start: Int, into descriptor: Int32, _ path: String) throws -> Int {
        var offset = start
        var before = start
        func hasMoved() -> Bool {
            defer { before = offset }
            return offset >= before + Self.movedBytes
        }
        return try server.retrying(file, hasMoved: hasMoved) {
            // A connection may fail behind the last byte.
            if offset == metadata.size, offset > start { return .done(offset) }
            let end = min(offset + Self.pieceBytes, metadata.size)
            let from = offset
            var isFirst = true
            let answer = try server.transfer(
                "GET", metadata.url, range: "bytes=\(from)-\(end - 1)", limit: metadata.size
            ) { (response, data) throws(HubError) in
                if isFirst {
                    isFirst = false
                    guard try accepts(response, from: from) else { return }
                    // A server that ignores the range sends all.
                    if response.statusCode == 200 {
                        offset = 0
                        try cut(descriptor, to: 0, path)
                    }
                } else {
                    guard response.statusCode == 200 || response.statusCode == 206 else { return }
                }
                let limit = response.statusCode == 206 ? end : metadata.size
                guard offset + data.count <= limit else {
                    throw .wrongSize(file: file, expected: limit, found: offset + data.count)
                }
                try write(data, descriptor, at: offset, path)
                offset += data.count
                report.show(offset, received: data.count)
            }
            if let later: HubServer.Attempt<Int> = HubServer.later(answer) { return later }
            switch answer.status {
            case 200, 206:
                // A body that ended early without an error: the next request continues.
                if offset == from, from < end { return .again(status: answer.status, after: nil) }
                return .done(offset)
            case 416:
                // The server's file is shorter than it says.
                throw HubError.wrongSize(file: file, expected: metadata.size, found: from)
            default: throw server.error(answer, reference, file: file, at: metadata.url)
            }
        }
    }

    /// Whether the body is the file's bytes from `start` (206) or from its beginning (200).
    private func accepts(_ response: HTTPURLResponse, from start: Int) throws(HubError) -> Bool {
        if response.statusCode == 200 {
            guard metadata.size <= Self.wholeBytes else {
                throw .badAnswer(place: file, problem: "it has no ranges, for a large file")
            }
            // Such as the page of a proxy that wants a login.
            let length = response.expectedContentLength
            guard length < 0 || length == Int64(metadata.size) else {
                throw .badAnswer(place: file, problem: "it has another length than the file")
            }
            return true
        }
        guard response.statusCode == 206 else { return false }
        let range = response.value(forHTTPHeaderField: "Content-Range") ?? ""
        guard range.hasPrefix("bytes \(start)-") else {
            throw .badAnswer(place: file, problem: "it has another range than was asked for")
        }
        return true
    }

    private func cut(
        _ descriptor: Int32, to count: Int, _ path: String
    ) throws(HubError) {
        try done(uninterrupted { calls.cut(descriptor, to: count) }, "write", path)
    }

    private func write(
        _ data: Data, _ descriptor: Int32, at offset: Int, _ path: String
    ) throws(HubError) {
        var done = 0
        while done < data.count {
            let count = data.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress.map { $0 + done }, data.count - done,
                    off_t(offset + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write", path) }
            done += count
        }
    }

    /// SHA-256 or git's SHA-1, as the expected digest is.
    private func digest(_ descriptor: Int32, _ path: String) throws -> String {
        var (sha256, git) = (SHA256(), GitBlobHash(size: metadata.size))
        let isLinked = metadata.etag.utf8.count == 64
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        var offset = 0
        while offset < metadata.size {
            let count = chunk.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(offset))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("read", path) }
            if isLinked {
                chunk.withUnsafeBytes {
                    sha256.update(UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
            } else {
                git.update(chunk[..<count])
            }
            offset += count
            report.show(metadata.size)
        }
        return isLinked ? sha256.finish().description : git.finish()
    }
}
