/// A descriptor that a loop watches. It belongs to the loop's thread.
final class Watch {
    fileprivate let descriptor: Int32
    fileprivate let slot: Int
    fileprivate var interest: Readiness
    /// Nil once it has ended.
    fileprivate var handler: ((Readiness) -> Void)?
    /// What to tell the handler in this turn.
    fileprivate var found: Readiness = []
    /// Whether the last turn had no time for it.
    fileprivate var wasLeftOut = false

    fileprivate init(
        _ descriptor: Int32, slot: Int, _ interest: Readiness,
        _ handler: @escaping (Readiness) -> Void
    ) {
        self.descriptor = descriptor
        self.slot = slot
        self.interest = interest
        self.handler = handler
    }

    var isActive: Bool { handler != nil }
}

/// A loop's descriptors, and the handlers to call when they are ready. With epoll the cost of a
/// turn depends only on what happens in it, not on their number.
///
/// A turn's events belong to watches, not to numbers: if a number is closed and reused within a
/// turn, its new descriptor does not get the events of the old one.
struct WatchList {
    private var descriptors: any WatchedDescriptors
    /// By slot.
    private var watches: [Watch?] = []
    private var freeSlots: [Int] = []
    /// Those that are ready in this turn, in the order in which their handlers are called.
    private var ready: [Watch] = []
    private var told = 0

    /// Uses epoll where the system has it, else poll.
    init() {
        #if os(Linux)
            if let epoll = EpollDescriptors() {
                self.init(epoll)
                return
            }
        #endif
        self.init(PollDescriptors())
    }

    init(_ descriptors: any WatchedDescriptors) {
        self.descriptors = descriptors
    }

    mutating func add(
        _ descriptor: Int32, _ interest: Readiness, _ handler: @escaping (Readiness) -> Void
    ) -> Watch {
        let slot = freeSlots.popLast() ?? watches.count
        let watch = Watch(descriptor, slot: slot, interest, handler)
        if slot == watches.count { watches.append(watch) } else { watches[slot] = watch }
        if !descriptors.add(descriptor, slot: slot, interest) { poll() }
        return watch
    }

    /// Continues with poll, for which the system always has room.
    private mutating func poll() {
        descriptors.close()
        descriptors = PollDescriptors()
        for watch in watches.compactMap({ $0 }) {
            let isAdded = descriptors.add(watch.descriptor, slot: watch.slot, watch.interest)
            precondition(isAdded)
        }
    }

    mutating func change(_ watch: Watch, to interest: Readiness) {
        guard watch.isActive, watch.interest != interest else { return }
        watch.interest = interest
        descriptors.change(watch.descriptor, slot: watch.slot, to: interest)
    }

    /// - Returns: the handler. Release it when no access to the list is under way: it may be the
    ///   last to hold an object that ends other watches in its `deinit`.
    mutating func remove(_ watch: Watch) -> ((Readiness) -> Void)? {
        guard watch.isActive else { return nil }
        descriptors.remove(watch.descriptor, slot: watch.slot)
        watches[watch.slot] = nil
        freeSlots.append(watch.slot)
        defer { watch.handler = nil }
        return watch.handler
    }

    /// Ends all watches and frees what the system holds for them.
    ///
    /// - Returns: the handlers; see `remove`.
    mutating func close() -> [(Readiness) -> Void] {
        let handlers = watches.compactMap { $0 }.compactMap { remove($0) }
        ready = []
        told = 0
        descriptors.close()
        return handlers
    }

    /// Waits for the first event; -1 milliseconds: for ever. Watches that the last turn had no time
    /// for go first if they are still ready.
    mutating func wait(milliseconds: Int32) {
        ready.removeFirst(told)
        told = 0
        for watch in ready {
            watch.found = []
            watch.wasLeftOut = true
        }
        var added: [Watch] = []
        let watches = watches
        descriptors.wait(milliseconds: milliseconds) { slot, found in
            guard let watch = watches[slot] else { return }
            watch.found = found
            if !watch.wasLeftOut { added.append(watch) }
        }
        for watch in ready { watch.wasLeftOut = false }
        ready.removeAll { $0.found.isEmpty }
        ready += added
    }

    /// The turn's next handler and what to tell it; nil after the last.
    mutating func next() -> (handler: (Readiness) -> Void, Readiness)? {
        while told < ready.count {
            let watch = ready[told]
            told += 1
            if let handler = watch.handler { return (handler, watch.found) }
        }
        return nil
    }
}
