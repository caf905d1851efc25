import SkeinBasics
import Synchronization

/// What others have for the engine's thread. Not a `WorkQueue`: the engine takes all of it at once,
/// between two steps, and asks for cancellations in the middle of one.
final class EngineInbox: Sendable {
    typealias Tell = (request: RequestID, tell: @Sendable ([CutAnswer]) -> Void)

    struct Mail: Sendable {
        /// Those of each request.
        var jobs: [[AnswerJob]] = []
        var cancellations: [RequestID] = []
        /// Who wants to know what was cut.
        var tells: [Tell] = []
        var stops = false

        var isEmpty: Bool { jobs.isEmpty && cancellations.isEmpty && !stops }
    }

    private let mail = Condition(Mail())
    /// Whether a request was cancelled; cheap enough to ask in the middle of a step.
    private let hasCancellations = Atomic<Bool>(false)

    func put(jobs: [AnswerJob]) { mail.change { $0.jobs.append(jobs) } }

    func put(cancellation: RequestID, _ tell: (@Sendable ([CutAnswer]) -> Void)?) {
        mail.change { mail in
            mail.cancellations.append(cancellation)
            if let tell { mail.tells.append((cancellation, tell)) }
        }
        hasCancellations.store(true, ordering: .releasing)
    }

    func stop() { mail.change { $0.stops = true } }

    /// Whether all of these requests were cancelled. Cheap where none was.
    func areCancelled(_ requests: some Sequence<RequestID>) -> Bool {
        guard hasCancellations.load(ordering: .acquiring) else { return false }
        return mail.change(waking: false) { mail in
            requests.allSatisfy { mail.cancellations.contains($0) }
        }
    }

    /// Takes all that is there; with `waits`, once there is something.
    func take(waits: Bool) -> Mail {
        mail.wait { mail in
            if mail.isEmpty, waits { return nil }
            defer { mail = Mail() }
            self.hasCancellations.store(false, ordering: .releasing)
            return mail
        }
    }
}
