/// Answers that wait for room. Owners take turns, each with one answer, and so do an owner's requests: one
/// with many answers does not keep others waiting until all of its own have begun. An answer that waits is
/// its job, which shares prompt and stops with the request's others; it is begun when it is looked at.
struct WaitingAnswers {
    private struct Request {
        let id: RequestID
        /// The next one last.
        var jobs: [AnswerJob]
        /// The next one, made when it is first asked for.
        var next: RunningAnswer?
    }

    /// What an owner waits for.
    private struct OwnerQueue {
        let owner: RequestOwner
        /// The next one first; never empty.
        var requests: [Request]
    }

    private let begin: (AnswerJob) -> RunningAnswer

    /// The next one first.
    private var queues: [OwnerQueue] = []
    private(set) var count = 0

    var isEmpty: Bool { queues.isEmpty }

    init(begin: @escaping (AnswerJob) -> RunningAnswer) { self.begin = begin }

    /// Takes the answers of a request, in their order.
    mutating func append(_ jobs: [AnswerJob]) {
        guard let first = jobs.first else { return }
        let request = Request(id: first.request, jobs: jobs.reversed())
        count += jobs.count
        if let index = place(of: first.owner) {
            queues[index].requests.append(request)
        } else {
            queues.append(OwnerQueue(owner: first.owner, requests: [request]))
        }
    }

    /// Those who wait, the next one first.
    var owners: [RequestOwner] { queues.map(\.owner) }

    private func place(of owner: RequestOwner) -> Int? {
        queues.firstIndex { $0.owner == owner }
    }

    /// The owner's answer whose turn it is; the same until it is removed.
    mutating func first(of owner: RequestOwner) -> RunningAnswer? {
        guard let index = place(of: owner), let request = queues[index].requests.first,
            let job = request.jobs.last
        else { return nil }
        if let next = request.next { return next }
        let next = begin(job)
        queues[index].requests[0].next = next
        return next
    }

    /// Takes the owner's first answer out: the others of its request have their turn after the owner's
    /// other requests, and those after all other owners.
    mutating func removeFirst(of owner: RequestOwner) {
        guard let place = place(of: owner) else { return }
        var queue = queues.remove(at: place)
        var request = queue.requests.removeFirst()
        request.jobs.removeLast()
        request.next = nil
        count -= 1
        if !request.jobs.isEmpty { queue.requests.append(request) }
        if !queue.requests.isEmpty { queues.append(queue) }
    }

    /// Forgets all answers of these requests.
    mutating func remove(_ gone: Set<RequestID>) {
        for place in queues.indices { queues[place].requests.removeAll { gone.contains($0.id) } }
        queues.removeAll { $0.requests.isEmpty }
        count = queues.reduce(0) { sum, queue in
            sum + queue.requests.reduce(0) { $0 + $1.jobs.count }
        }
    }
}
