#if os(Linux)
    import CSkeinSystem
    import Foundation

    /// Descriptors for epoll(7), which reports the ready ones without looking at the others.
    ///
    /// No peer's bytes and no state of the system reach a `fatalError` here, only bugs of ours: a
    /// descriptor closed before its watch ended, or watched twice.
    struct EpollDescriptors: WatchedDescriptors {
        private let queue: Int32
        private var count = 0
        private var events: [epoll_event] = []

        /// Nil: the system has no epoll, or none left.
        init?() {
            queue = epoll_create1(Int32(EPOLL_CLOEXEC))
            guard queue >= 0 else { return nil }
        }

        mutating func add(_ descriptor: Int32, slot: Int, _ interest: Readiness) -> Bool {
            guard let code = control(EPOLL_CTL_ADD, descriptor, slot, interest) else {
                count += 1
                return true
            }
            // The user's limit (fs.epoll.max_user_watches), or the system's memory.
            guard code == ENOSPC || code == ENOMEM else { fatalError("EPOLL_CTL_ADD: \(code)") }
            return false
        }

        mutating func change(_ descriptor: Int32, slot: Int, to interest: Readiness) {
            if let code = control(EPOLL_CTL_MOD, descriptor, slot, interest) {
                fatalError("EPOLL_CTL_MOD: \(code)")
            }
        }

        mutating func remove(_ descriptor: Int32, slot: Int) {
            count -= 1
            // Fails, for example, if the descriptor was closed before its watch ended.
            if let code = control(EPOLL_CTL_DEL, descriptor, slot, []) {
                fatalError("EPOLL_CTL_DEL: \(code)")
            }
        }

        mutating func close() { Foundation.close(queue) }

        mutating func wait(milliseconds: Int32, _ found: (_ slot: Int, Readiness) -> Void) {
            // Room for all, so that a turn that must hear every ready peer can.
            if events.count < max(count, 1) {
                events = Array(repeating: epoll_event(), count: max(64, 2 * count))
            }
            let ready = epoll_wait(queue, &events, Int32(events.count), milliseconds)
            guard ready >= 0 else {
                guard errno == EINTR else { fatalError("epoll_wait: \(errno)") }
                return
            }
            for event in events[..<Int(ready)] {
                var readiness: Readiness = []
                if event.events & EPOLLIN.rawValue != 0 { readiness.insert(.read) }
                if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.write) }
                if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
                    readiness.insert(.broken)
                }
                if event.events & EPOLLRDHUP.rawValue != 0 { readiness.insert(.hangUp) }
                found(Int(event.data.u64), readiness)
            }
        }

        /// - Returns: the error, if there was one.
        private func control(
            _ operation: Int32, _ descriptor: Int32, _ slot: Int, _ interest: Readiness
        ) -> Int32? {
            var event = epoll_event()
            if interest.contains(.read) { event.events |= EPOLLIN.rawValue }
            if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
            if interest.contains(.hangUp) { event.events |= EPOLLRDHUP.rawValue }
            event.data.u64 = UInt64(slot)
            return epoll_ctl(queue, operation, descriptor, &event) == 0 ? nil : errno
        }
    }
#endif
