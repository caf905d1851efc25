/// Threads that perform what they are given, beside the givers, who never wait: work that a network's
/// thread, an engine's or Swift's pool must not do.
///
/// An item waits, is with the one thread that performs it, or was handed back or dropped. It leaves
/// `waiting` and counts as `performing` in one hold of the lock, and counts until `perform` has
/// returned; so under the lock nothing waits and nothing is performed only when all is done. A closed
/// queue stays closed: nothing enters it, and each thread ends when it finds nothing that waits. So it
/// does not matter how many threads close it, how often, and what is performed meanwhile.
/// No code of others runs under the lock, neither `perform` nor an item's `deinit`, and the threads do
/// not hold the queue: any of these may call it, and even be the last to release it.
package final class WorkQueue<Item: Sendable>: Sendable {
    /// What may wait.
    package enum Room: Sendable {
        /// Callers bound what they give.
        case callers
        /// This many items; no more are taken.
        case refusing(Int)
        /// This many items; the one that would be next makes room for a new one.
        case droppingOldest(Int)
    }

    package enum Outcome {
        /// It will be performed, unless it is dropped.
        case taken
        /// It is taken, and this one will not be performed.
        case dropped(Item)
        /// Too much waits already.
        case full
        /// The queue is closed.
        case over
    }

    private struct State: Sendable {
        var waiting = FairQueue<String?, Item>()
        var performing = 0
        var isClosed = false
    }

    private let state = Condition(State())
    private let room: Room

    /// Starts the threads; nil if the system refuses one.
    ///
    /// - Parameters:
    ///   - name: the thread's, as debuggers and `top -H` show it.
    ///   - threads: how many, with a number behind the name; nil: one, without a number.
    ///   - stackBytes: the size of each stack.
    ///   - room: what may wait.
    ///   - perform: called on one of the threads with each item.
    package init?(
        _ name: String, threads: Int? = nil, stackBytes: Int = 1 << 20, room: Room = .callers,
        perform: @escaping @Sendable (Item) -> Void
    ) {
        self.room = room
        for number in 0..<(threads ?? 1) {
            let name = threads == nil ? name : "\(name)-\(number)"
            let state = state
            let isStarted = SystemThread.start(name, stackBytes: stackBytes) {
                while let item = Self.next(state) {
                    perform(item)
                    state.change { $0.performing -= 1 }
                }
            }
            guard isStarted else {
                close()
                return nil
            }
        }
    }

    /// A queue that is released performs what it has.
    deinit { close() }

    /// How many items wait.
    package var waitingCount: Int { state.change(waking: false) { $0.waiting.count } }

    /// Queues an item; never waits.
    ///
    /// - Parameters:
    ///   - item: what a thread is to perform.
    ///   - owner: the items of each owner are begun in their order, and owners take turns.
    /// - Returns: what becomes of the item.
    @discardableResult
    package func give(_ item: Item, for owner: String? = nil) -> Outcome {
        state.change { state in
            if state.isClosed { return .over }
            var dropped: Item?
            switch room {
            case .refusing(let limit) where state.waiting.count >= limit: return .full
            case .droppingOldest(let limit) where state.waiting.count >= limit:
                dropped = state.waiting.next()
            default: break
            }
            state.waiting.add(item, for: owner)
            return dropped.map { .dropped($0) } ?? .taken
        }
    }

    /// Takes no more items. The threads end when nothing waits.
    ///
    /// - Parameter dropsWaiting: whether they perform none of those that wait.
    package func close(droppingWaiting dropsWaiting: Bool = false) {
        // Released after the lock.
        var dropped = FairQueue<String?, Item>()
        state.change { state in
            state.isClosed = true
            if dropsWaiting { swap(&dropped, &state.waiting) }
        }
    }

    /// Closes the queue and waits until everything is performed, but not for longer than until
    /// `deadline`. Called by `perform`, it would wait for itself.
    ///
    /// - Returns: how many items are not performed, with those that are being performed.
    package func finish(until deadline: ContinuousClock.Instant) -> Int {
        close()
        state.wait(until: deadline) { $0.waiting.count + $0.performing == 0 ? () : nil }
        return state.change { $0.waiting.count + $0.performing }
    }

    /// The next item, once there is one; nil at the end.
    private static func next(_ state: Condition<State>) -> Item? {
        state.wait { state -> Item?? in
            if let item = state.waiting.next() {
                state.performing += 1
                return .some(item)
            }
            return state.isClosed ? .some(nil) : nil
        }
    }
}
