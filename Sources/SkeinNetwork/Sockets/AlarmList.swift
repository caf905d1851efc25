/// Names an action that a loop carries out at some time; the loop holds the action.
package struct Alarm: Sendable, Hashable {
    fileprivate var deadline: ContinuousClock.Instant
    fileprivate var serial: UInt64

    fileprivate func isBefore(_ other: Alarm) -> Bool {
        deadline == other.deadline ? serial < other.serial : deadline < other.deadline
    }
}

/// A loop's alarms in the order in which they go off; at most a few for each connection.
///
/// A binary heap, because a server has one alarm for each of thousands of idle connections: a
/// sorted list moved 400 KB for each that was set. Cancelled alarms stay in the heap until they
/// come to its front or are more than the others.
package struct AlarmList {
    /// The next one is first, and it is never a cancelled one.
    private var heap: [Alarm] = []
    /// By serial number; a cancelled alarm has none.
    private var actions: [UInt64: () -> Void] = [:]
    private var serial: UInt64 = 0

    package init() {}

    /// When the next one goes off.
    package var first: ContinuousClock.Instant? { heap.first?.deadline }

    package mutating func add(_ deadline: ContinuousClock.Instant, _ action: @escaping () -> Void)
        -> Alarm
    {
        serial += 1
        let alarm = Alarm(deadline: deadline, serial: serial)
        actions[serial] = action
        heap.append(alarm)
        rise(heap.count - 1)
        return alarm
    }

    /// - Returns: the action, if it has not gone off. Release it when no access to the list is
    ///   under way: it may be the last to hold an object that cancels other alarms in its `deinit`.
    @discardableResult
    package mutating func remove(_ alarm: Alarm) -> (() -> Void)? {
        guard let action = actions.removeValue(forKey: alarm.serial) else { return nil }
        if heap.count > 2 * actions.count + 64 {
            heap.removeAll { actions[$0.serial] == nil }
            for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
        } else {
            dropCancelled()
        }
        return action
    }

    /// Alarms that are set.
    package var count: Int { actions.count }

    package mutating func removeAll() {
        heap.removeAll()
        actions.removeAll()
    }

    /// Removes and returns the next action that is due at `now`.
    package mutating func takeDue(_ now: ContinuousClock.Instant) -> (() -> Void)? {
        guard let next = heap.first, next.deadline <= now else { return nil }
        removeFirst()
        let action = actions.removeValue(forKey: next.serial)
        dropCancelled()
        return action
    }

    private mutating func dropCancelled() {
        while let next = heap.first, actions[next.serial] == nil { removeFirst() }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        if !heap.isEmpty { sink(0) }
    }

    private mutating func rise(_ index: Int) {
        var index = index
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(_ index: Int) {
        var index = index
        while true {
            var next = 2 * index + 1
            guard next < heap.count else { return }
            if next + 1 < heap.count, heap[next + 1].isBefore(heap[next]) { next += 1 }
            guard heap[next].isBefore(heap[index]) else { return }
            heap.swapAt(index, next)
            index = next
        }
    }
}
