import Synchronization

/// How long a provider may take.
package struct Patience: Sendable {
    /// Until the first text: a model may have to be loaded, a prompt to be read.
    package var beginning = Duration.seconds(120)
    /// From one piece of text to the next.
    package var silence = Duration.seconds(30)
    /// For the whole answer, so that a trickle has an end, too.
    package var whole = Duration.seconds(900)

    package init() {}

    /// An answer that ends with `stalled` or `tooSlow` once patience does, whether its provider then ends or not.
    package func watching(
        _ answer: AsyncThrowingStream<String, any Error>
    ) -> AsyncThrowingStream<String, any Error> {
        let clock = ContinuousClock()
        let end = clock.now + whole
        let deadline = Deadline(clock.now + beginning, stalled: beginning)
        return AsyncThrowingStream { continuation in
            let reading = Task {
                do {
                    for try await piece in answer {
                        // What has come is passed on first, however long this task is then kept waiting.
                        continuation.yield(piece)
                        deadline.move(to: clock.now + silence, stalled: silence)
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            let watching = Task {
                while true {
                    let (due, stalled) = deadline.due
                    let now = clock.now
                    if now >= end {
                        return continuation.finish(throwing: ProviderFailure.tooSlow(whole))
                    }
                    if now >= due {
                        return continuation.finish(throwing: ProviderFailure.stalled(stalled))
                    }
                    // Throws once the answer has ended or nobody reads it any more. The first piece moves `due`
                    // nearer, and nobody wakes this task for it: so never longer than from piece to piece.
                    try await clock.sleep(until: min(due, end, now + silence))
                }
            }
            continuation.onTermination = { _ in
                reading.cancel()
                watching.cancel()
            }
        }
    }
}

/// When something must have come, and how long that was waited for.
private final class Deadline: Sendable {
    private let state: Mutex<(due: ContinuousClock.Instant, stalled: Duration)>

    init(_ due: ContinuousClock.Instant, stalled: Duration) {
        state = Mutex((due, stalled))
    }

    var due: (due: ContinuousClock.Instant, stalled: Duration) { state.withLock { $0 } }

    func move(to due: ContinuousClock.Instant, stalled: Duration) {
        state.withLock { $0 = (due, stalled) }
    }
}
