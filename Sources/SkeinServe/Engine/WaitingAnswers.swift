/// Answers that wait for room. Requests take turns, each with one answer, so that one with many answers
/// does not keep others waiting until all of its own have begun.
struct WaitingAnswers {
    private struct Request {
        let id: RequestID
        /// The next one last.
        var answers: [RunningAnswer]
    }

    /// The next one first.
    private var requests: [Request] = []
    private(set) var count = 0

    var isEmpty: Bool { requests.isEmpty }

    /// Takes the answers of a request, in their order.
    mutating func append(_ answers: [RunningAnswer]) {
        guard let first = answers.first else { return }
        requests.append(Request(id: first.job.request, answers: answers.reversed()))
        count += answers.count
    }

    /// The answer whose turn it is.
    var first: RunningAnswer? { requests.first?.answers.last }

    /// Takes the first answer out; the others of its request have their turn after all other requests.
    mutating func removeFirst() {
        guard !requests.isEmpty else { return }
        var request = requests.removeFirst()
        request.answers.removeLast()
        count -= 1
        if !request.answers.isEmpty { requests.append(request) }
    }

    /// Forgets all answers of these requests.
    mutating func remove(_ gone: Set<RequestID>) {
        requests.removeAll { gone.contains($0.id) }
        count = requests.reduce(0) { $0 + $1.answers.count }
    }
}
