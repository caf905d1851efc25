import Foundation
import Synchronization

/// The system refused memory for a large buffer.
///
/// Buffers of a model's size are allocated deep inside computations on many threads, which cannot
/// go on without them. So a refusal is not thrown: it ends the process with status 74 and a
/// message. What a run needs to continue is always on disk.
package struct MemoryShortage: Error, Equatable {
    /// The bytes that were asked for.
    package var bytes: Int
    /// What they were for; follows "for" in the message.
    package var purpose: String

    package init(bytes: Int, purpose: String) {
        self.bytes = bytes
        self.purpose = purpose
    }

    /// Reports on standard error unless the program has set another listener.
    private static let listener = Mutex<@Sendable (MemoryShortage) -> Void> { shortage in
        FileHandle.standardError.write(
            Data("skein: \(shortage.explanation.what); the process ends\n".utf8))
    }

    /// Sets who reports a shortage, on the thread that meets it, before the process ends.
    package static func listen(_ body: @escaping @Sendable (MemoryShortage) -> Void) {
        listener.withLock { $0 = body }
    }

    /// Ends the process because it could not allocate `bytes`.
    package static func end(bytes: Int, for purpose: String) -> Never {
        let shortage = MemoryShortage(bytes: bytes, purpose: purpose)
        // The first caller reports; others wait here for the end.
        listener.withLock { $0(shortage) }
        _exit(shortage.explanation.status.rawValue)
    }

    /// Checks that the system has memory for an array, whose own allocation would trap.
    ///
    /// Nothing is kept: this finds limits (`ulimit -v`), not what other threads take next.
    package static func check(floats count: Int, for purpose: String) {
        let (bytes, isOver) = count.multipliedReportingOverflow(by: MemoryLayout<Float>.stride)
        // Not malloc: the compiler may drop a malloc and free whose memory is not used.
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
        "raise the memory limit (ulimit -v, or the container's), end other programs, or use a "
        + "smaller model"

    package var explanation: Explanation {
        Explanation(
            what: "cannot allocate \(bytes) bytes for \(purpose)",
            remedy: Self.remedy, status: .inputOutput)
    }
}
