/// Answers that wait for room. Requests take turns, each with one answer, so that one with many answers
/// does not keep others waiting until all of its own have begun. An answer that waits is its job, which
/// shares prompt and stops with the request's others; it is begun when it is looked at.
struct WaitingAnswers {
    private struct Request {
        let id: RequestID
        /// The next one last.
        var jobs: [AnswerJob]
        /// The next one, once somebody has looked.
        var next: RunningAnswer?
    }

    private let begin: (AnswerJob) -> RunningAnswer

    /// The next one first.
    private var requests: [Request] = []
    private(set) var count = 0

    var isEmpty: Bool { requests.isEmpty }

    init(begin: @escaping (AnswerJob) -> RunningAnswer) { self.begin = begin }

    /// Takes the answers of a request, in their order.
    mutating func append(_ jobs: [AnswerJob]) {
        guard let first = jobs.first else { return }
        requests.append(Request(id: first.request, jobs: jobs.reversed()))
        count += jobs.count
    }

    /// The answer whose turn it is; the same until it is removed.
    var first: RunningAnswer? {
        mutating get {
            guard let request = requests.first, let job = request.jobs.last else { return nil }
            if let next = request.next { return next }
            let next = begin(job)
            requests[0].next = next
            return next
        }
    }

    /// Takes the first answer out; the others of its request have their turn after all other requests.
    mutating func removeFirst() {
        guard !requests.isEmpty else { return }
        var request = requests.removeFirst()
        request.jobs.removeLast()
        request.next = nil
        count -= 1
        if !request.jobs.isEmpty { requests.append(request) }
    }

    /// Forgets all answers of these requests.
    mutating func remove(_ gone: Set<RequestID>) {
        requests.removeAll { gone.contains($0.id) }
        count = requests.reduce(0) { $0 + $1.jobs.count }
    }
}
