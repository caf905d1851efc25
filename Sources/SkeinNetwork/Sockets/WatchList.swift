/// A descriptor that a loop watches. It belongs to the loop's thread.
package final class Watch {
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

    package var isActive: Bool { handler != nil }
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

/// What a descriptor is ready for, or is watched for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let read = Readiness(rawValue: 1)
    package static let write = Readiness(rawValue: 2)
    /// Hung up or failed; reported whether asked for or not. Reading or writing tells more.
    package static let broken = Readiness(rawValue: 4)
    /// The peer has ended its side, and what it sent before may wait to be read; for those who do
    /// not read at the moment. Only Linux tells: elsewhere the end is found by reading up to it.
    package static let hangUp = Readiness(rawValue: 8)
}

/// Descriptors that the system watches for a loop. Each is in it once and is reported by its slot,
/// 0 or more. Remove a descriptor before closing it.
protocol WatchedDescriptors {
    /// - Returns: false when the system has no room for one more.
    @discardableResult
    mutating func add(_ descriptor: Int32, slot: Int, _ interest: Readiness) -> Bool
    mutating func change(_ descriptor: Int32, slot: Int, to interest: Readiness)
    mutating func remove(_ descriptor: Int32, slot: Int)

    /// Waits until one is ready, a signal comes, or the time is over (-1: never); reports all that
    /// are ready.
    mutating func wait(milliseconds: Int32, _ found: (_ slot: Int, Readiness) -> Void)

    /// Frees what the system holds; no other call may follow.
    mutating func close()
}
