import Foundation

/// What a descriptor is ready for, or is to be watched for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt8

    static let read = Readiness(rawValue: 1)
    static let write = Readiness(rawValue: 2)
    /// Hung up or failed; reported whether asked for or not. Reading or writing tells more.
    static let broken = Readiness(rawValue: 4)
}

/// A descriptor that a loop watches. It belongs to the loop's thread.
final class Watch {
    fileprivate var handler: ((Readiness) -> Void)?
    /// Where it stands in the list; nil once it has ended.
    fileprivate var slot: Int?

    fileprivate init(slot: Int, handler: @escaping (Readiness) -> Void) {
        self.slot = slot
        self.handler = handler
    }

    var isActive: Bool { slot != nil }
}

/// The descriptors of a loop, kept as poll(2) wants them from one turn to the next.
///
/// A watch that ends while a turn is under way leaves a hole, which poll(2) ignores, and which is
/// closed before the next: so no slot changes its meaning within a turn, and a descriptor that is
/// closed and at once opened again as another does not get the events of the first.
struct WatchList {
    /// Same order and length.
    private var entries: [pollfd] = []
    private var watches: [Watch?] = []
    private var holes: [Int] = []

    mutating func add(
        _ descriptor: Int32, _ interest: Readiness, _ handler: @escaping (Readiness) -> Void
    ) -> Watch {
        let watch = Watch(slot: entries.count, handler: handler)
        entries.append(pollfd(fd: descriptor, events: Self.events(interest), revents: 0))
        watches.append(watch)
        return watch
    }

    mutating func change(_ watch: Watch, to interest: Readiness) {
        guard let slot = watch.slot else { return }
        entries[slot].events = Self.events(interest)
    }

    mutating func remove(_ watch: Watch) {
        guard let slot = watch.slot else { return }
        entries[slot] = pollfd(fd: -1, events: 0, revents: 0)
        watches[slot] = nil
        holes.append(slot)
        watch.slot = nil
        watch.handler = nil
    }

    mutating func removeAll() {
        for watch in watches.compactMap({ $0 }) { remove(watch) }
    }

    /// Moves the last entries into the holes.
    private mutating func closeHoles() {
        // From the back, so that an entry that moves is never a hole itself.
        for hole in holes.sorted(by: >) {
            let last = entries.count - 1
            if hole < last {
                entries[hole] = entries[last]
                watches[hole] = watches[last]
                watches[hole]?.slot = hole
            }
            entries.removeLast()
            watches.removeLast()
        }
        holes.removeAll(keepingCapacity: true)
    }

    /// Waits for the first event; -1 milliseconds: for ever.
    ///
    /// - Returns: how many entries to look at with `takeReady`.
    mutating func wait(milliseconds: Int32) -> Int {
        closeHoles()
        let ready = entries.withUnsafeMutableBufferPointer {
            poll($0.baseAddress, nfds_t($0.count), milliseconds)
        }
        guard ready >= 0 else {
            // A signal, or no memory for the moment: what `revents` holds is of the turn before.
            precondition(errno == EINTR || errno == EAGAIN || errno == ENOMEM, "poll: \(errno)")
            return 0
        }
        return ready == 0 ? 0 : entries.count
    }

    /// The handler of entry `index` with what it is to be told; nil when it is not ready.
    mutating func takeReady(_ index: Int) -> (handler: (Readiness) -> Void, Readiness)? {
        let found = Int32(entries[index].revents)
        guard found != 0 else { return nil }
        entries[index].revents = 0
        guard let handler = watches[index]?.handler else { return nil }
        precondition(found & Int32(POLLNVAL) == 0, "a descriptor was closed before its watch ended")
        var readiness: Readiness = []
        if found & Int32(POLLIN) != 0 { readiness.insert(.read) }
        if found & Int32(POLLOUT) != 0 { readiness.insert(.write) }
        if found & Int32(POLLERR | POLLHUP) != 0 { readiness.insert(.broken) }
        return (handler, readiness)
    }

    private static func events(_ interest: Readiness) -> Int16 {
        Int16(interest.contains(.read) ? POLLIN : 0)
            | Int16(interest.contains(.write) ? POLLOUT : 0)
    }
}
