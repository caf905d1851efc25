import Foundation
import SkeinBasics
import SkeinCoordination

/// Makes workers of one machine fetch a model one after the other: the second finds it there.
///
/// The holder touches the lock's file while it gets on, so that others can tell it from a process
/// that was stopped.
final class FetchLock {
    private let directory: String
    private let path: String
    private let descriptor: Int32
    private var touched = ContinuousClock.now

    /// Opens the lock's file, and does not take the lock.
    init(directory: String) throws {
        self.directory = directory
        path = directory + "/.lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "create", path: path, code: errno)
        }
    }

    /// Also runs for an `init` that threw after it had opened the descriptor.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes the lock if no process has it.
    func take() throws -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK || errno == EINTR else {
            throw FileError.failed(operation: "lock", path: path, code: errno)
        }
        return false
    }

    /// Shows others that this process gets on; at most once a second.
    func touch() {
        let now = ContinuousClock.now
        guard now - touched >= .seconds(1) else { return }
        touched = now
        // Where it fails, others may fetch the model beside this process: no more than a waste.
        _ = futimens(descriptor, nil)
    }

    /// What can be seen of the process that has the lock.
    func sign() -> FetchWait.Sign {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .init(byteCount: 0, touched: 0) }
        let time = status.st_mtim
        return FetchWait.Sign(
            byteCount: Self.byteCount(of: directory),
            touched: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Bytes of the files in a directory.
    private static func byteCount(of directory: String) -> UInt64 {
        // That the lock's file is touched is a sign of life, too.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.reduce(0) { sum, name in
            var status = stat()
            // A file may be renamed meanwhile; the next look finds it under its new name.
            guard stat(directory + "/" + name, &status) == 0 else { return sum }
            return sum &+ UInt64(status.st_size)
        }
    }
}
