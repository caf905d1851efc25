import Foundation

/// Descriptors for poll(2), which looks at each of them in each turn and holds nothing in the
/// system: for use where there is no epoll, or no room in it.
struct PollDescriptors: WatchedDescriptors {
    /// By slot; poll skips descriptors below 0.
    private var entries: [pollfd] = []

    mutating func add(_ descriptor: Int32, slot: Int, _ interest: Readiness) -> Bool {
        while entries.count <= slot { entries.append(Self.none) }
        entries[slot] = pollfd(fd: descriptor, events: Self.events(interest), revents: 0)
        return true
    }

    mutating func change(_ descriptor: Int32, slot: Int, to interest: Readiness) {
        entries[slot].events = Self.events(interest)
    }

    mutating func remove(_ descriptor: Int32, slot: Int) { entries[slot] = Self.none }

    mutating func close() { entries = [] }

    mutating func wait(milliseconds: Int32, _ found: (_ slot: Int, Readiness) -> Void) {
        let ready = entries.withUnsafeMutableBufferPointer {
            poll($0.baseAddress, nfds_t($0.count), milliseconds)
        }
        guard ready >= 0 else {
            // A signal, or no memory at the moment: `revents` still has the last turn's events.
            guard errno == EINTR || errno == EAGAIN || errno == ENOMEM else {
                fatalError("poll: \(errno)")
            }
            return
        }
        for slot in entries.indices where entries[slot].revents != 0 {
            let events = Int32(entries[slot].revents)
            if events & Int32(POLLNVAL) != 0 { fatalError("closed before its watch ended") }
            var readiness: Readiness = []
            if events & Int32(POLLIN) != 0 { readiness.insert(.read) }
            if events & Int32(POLLOUT) != 0 { readiness.insert(.write) }
            if events & Int32(POLLERR | POLLHUP) != 0 { readiness.insert(.broken) }
            if events & Self.hangUp != 0 { readiness.insert(.hangUp) }
            found(slot, readiness)
        }
    }

    private static let none = pollfd(fd: -1, events: 0, revents: 0)

    private static func events(_ interest: Readiness) -> Int16 {
        Int16(interest.contains(.read) ? POLLIN : 0)
            | Int16(interest.contains(.write) ? POLLOUT : 0)
            | Int16(interest.contains(.hangUp) ? hangUp : 0)
    }

    #if os(Linux)
        /// POLLRDHUP, which the C library shows to GNU programs only.
        private static let hangUp: Int32 = 0x2000
    #else
        private static let hangUp: Int32 = 0
    #endif
}
