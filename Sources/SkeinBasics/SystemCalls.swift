import Foundation
import Synchronization

/// The system's own calls.
package struct SystemCalls: FileCalls {
    private static let turns = Mutex(())

    package init() {}

    package var mark: String { AtomicFile.mark }
    package var user: uid_t { geteuid() }

    /// What a call returned that says -1 when it failed. `errno` is read before anything else.
    private func result<Number: BinaryInteger>(_ number: Number) -> CallResult<Number> {
        number < 0 ? .failed(errno) : .done(number)
    }

    private func end(_ number: Int32) -> CallResult<Void> {
        number < 0 ? .failed(errno) : .done
    }

    package func open(_ path: String, _ flags: Int32, mode: mode_t) -> CallResult<Int32> {
        result(Foundation.open(path, flags | O_CLOEXEC, mode))
    }

    package func duplicate(_ descriptor: Int32) -> CallResult<Int32> {
        result(fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
    }

    package func close(_ descriptor: Int32) { _ = Foundation.close(descriptor) }

    package func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) -> CallResult<Int> {
        result(Foundation.read(descriptor, buffer.baseAddress, buffer.count))
    }

    package func read(
        _ descriptor: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) -> CallResult<Int> {
        result(pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
    }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> CallResult<Int> {
        result(Foundation.write(descriptor, bytes.baseAddress, bytes.count))
    }

    package func write(
        _ descriptor: Int32, at offset: Int, _ bytes: UnsafeRawBufferPointer
    ) -> CallResult<Int> {
        result(pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)))
    }

    package func cut(_ descriptor: Int32, to count: Int) -> CallResult<Void> {
        end(ftruncate(descriptor, off_t(count)))
    }

    package func flush(_ descriptor: Int32) -> CallResult<Void> {
        #if canImport(Darwin)
            // Here fsync(2) leaves bytes in the drive's cache. Not every file system can do better.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return .done }
        #endif
        return end(fsync(descriptor))
    }

    package func lock(_ descriptor: Int32, _ kind: Int32) -> CallResult<Void> {
        end(flock(descriptor, kind))
    }

    package func unlock(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

    package func status(_ descriptor: Int32) -> CallResult<FileStatus> {
        var status = stat()
        return fstat(descriptor, &status) < 0 ? .failed(errno) : .done(FileStatus(status))
    }

    package func status(of path: String) -> CallResult<FileStatus> {
        var status = stat()
        return stat(path, &status) < 0 ? .failed(errno) : .done(FileStatus(status))
    }

    package func linkStatus(of path: String) -> CallResult<FileStatus> {
        var status = stat()
        return lstat(path, &status) < 0 ? .failed(errno) : .done(FileStatus(status))
    }

    package func isThere(_ path: String) -> Bool { status(of: path).code == nil }

    package func target(ofLink path: String) -> CallResult<String> {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return .failed(errno) }
        return .done(
            String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    package func names(in path: String) -> CallResult<[String]> {
        guard let stream = opendir(path) else { return .failed(errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // The only sign of a directory that cannot be read to its end.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        let code = errno
        return code == 0 ? .done(names) : .failed(code)
    }

    package func rename(_ old: String, to new: String) -> CallResult<Void> {
        end(Foundation.rename(old, new))
    }

    package func unlink(_ path: String) -> CallResult<Void> { end(Foundation.unlink(path)) }

    package func makeDirectory(_ path: String, mode: mode_t) -> CallResult<Void> {
        end(mkdir(path, mode))
    }

    package func removeDirectory(_ path: String) -> CallResult<Void> { end(rmdir(path)) }

    package func setMode(_ descriptor: Int32, _ mode: mode_t) -> CallResult<Void> {
        end(fchmod(descriptor, mode))
    }

    package func setMode(of path: String, _ mode: mode_t) -> CallResult<Void> {
        end(chmod(path, mode))
    }

    package func touch(_ descriptor: Int32) { _ = futimens(descriptor, nil) }

    package func touch(_ path: String) { _ = utimensat(AT_FDCWD, path, nil, 0) }

    package func freeBytes(_ descriptor: Int32) -> CallResult<Int?> {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return .failed(errno) }
        return .done(DiskStore.freeBytes(status))
    }

    package func pause(microseconds: UInt32) { usleep(microseconds) }

    package func inTurn(_ body: () throws -> Void) rethrows {
        try Self.turns.withLock { _ in try body() }
    }
}
