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
    private let calls: any FileCalls
    private let descriptor: Int32
    private let now: @Sendable () -> ContinuousClock.Instant
    private var touched: ContinuousClock.Instant

    /// Opens the lock's file, and does not take the lock.
    init(
        directory: String, in calls: any FileCalls = SystemCalls(),
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws {
        self.directory = directory
        self.now = now
        touched = now()
        self.calls = calls
        path = directory + "/.lock"
        descriptor = try calls.openWholly(path, O_RDWR | O_CREAT, mode: 0o644).get("create", path)
    }

    deinit { calls.close(descriptor) }

    /// Takes the lock if no process has it.
    func take() throws -> Bool { try calls.tryLock(descriptor, path: path) }

    /// Shows others that this process gets on; at most once a second.
    func touch() {
        let now = self.now()
        guard now - touched >= .seconds(1) else { return }
        touched = now
        // Where it fails, others may fetch the model beside this process: no more than a waste.
        calls.touch(descriptor)
    }

    /// What can be seen of the process that has the lock.
    func sign() throws -> FetchWait.Sign {
        guard case .done(let status) = try calls.status(descriptor) else {
            return .init(byteCount: 0, touched: 0)
        }
        return FetchWait.Sign(byteCount: try byteCount(), touched: status.modified)
    }

    /// Bytes of the files in the directory.
    private func byteCount() throws -> UInt64 {
        // That the lock's file is touched is a sign of life, too.
        guard case .done(let names) = try calls.listWholly(directory) else { return 0 }
        return try names.reduce(0) { sum, name in
            // A file may be renamed meanwhile; the next look finds it under its new name.
            guard case .done(let status) = try calls.status(of: directory + "/" + name) else {
                return sum
            }
            return sum &+ UInt64(status.size)
        }
    }
}
