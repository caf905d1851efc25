import Foundation
import Synchronization

/// The system refused memory for a large buffer.
///
/// Buffers of a model's size are allocated deep inside computations on many threads, and nothing can
/// go on without them: so a refusal is no error that is handed up, but ends the process with what was
/// wanted and status 74. What a run needs to go on is on disk at every moment.
package struct MemoryShortage: Error, Equatable {
    /// What was asked for.
    package var bytes: Int
    /// What it was for, as it stands behind "for".
    package var purpose: String

    package init(bytes: Int, purpose: String) {
        self.bytes = bytes
        self.purpose = purpose
    }

    /// A program that set no other one hears of it on standard error.
    private static let listener = Mutex<@Sendable (MemoryShortage) -> Void> { shortage in
        FileHandle.standardError.write(
            Data("skein: \(shortage.explanation.what); the process ends\n".utf8))
    }

    /// Sets who tells a person of a shortage, on whatever thread it is met, before the process ends.
    package static func listen(_ body: @escaping @Sendable (MemoryShortage) -> Void) {
        listener.withLock { $0 = body }
    }

    /// Ends the process for want of `bytes`.
    package static func end(bytes: Int, for purpose: String) -> Never {
        let shortage = MemoryShortage(bytes: bytes, purpose: purpose)
        // The first one speaks; others that are met meanwhile wait here for the end.
        listener.withLock { $0(shortage) }
        _exit(shortage.explanation.status.rawValue)
    }

    /// Makes sure that the system has `bytes` for an array, whose own allocation would be a trap.
    ///
    /// Nothing is kept: it finds limits (`ulimit -v`), and not what other threads take next.
    package static func check(floats count: Int, for purpose: String) {
        let (bytes, isOver) = count.multipliedReportingOverflow(by: MemoryLayout<Float>.stride)
        // Not malloc: the compiler may drop a pair of malloc and free whose memory nobody uses.
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        if isOver { end(bytes: .max, for: purpose) }
        guard count > 0 else { return }
        let probe = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let probe, probe != MAP_FAILED else { end(bytes: bytes, for: purpose) }
        munmap(probe, bytes)
    }
}

extension MemoryShortage: Explained {
    static let remedy =
        "raise the limit of memory (ulimit -v, that of the container), end other programs, or use a "
        + "smaller model"

    package var explanation: Explanation {
        Explanation(
            what: "the system has no \(bytes) bytes of memory left for \(purpose)",
            remedy: Self.remedy, status: .inputOutput)
    }
}
