/// What a `SimulatedDisk` does wrong, and how often it has.
package struct DiskFaults: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// ENOSPC, for this call and some more.
        case noSpace
        /// EIO of a read.
        case readError
        /// EIO of a write.
        case writeError
        /// EIO of an fsync: what it was to write is lost with the power, though the next one says nothing.
        case flushError
        case shortRead
        case shortWrite
        /// EINTR.
        case interruption
        /// An fsync that says it has done what the next one will do.
        case lostFlush
        /// A lock that another process has, too.
        case sharedLock
        /// A bit of a file at rest.
        case rot
        /// Locks that were forgotten.
        case lostLock
        /// An older copy that was put in place.
        case restored
    }

    /// The probability of each, at every call where it can happen. The last three are methods of the disk.
    package var chances: [Kind: Double] = [:]
    /// Whether every fsync only says that it has done something.
    package var liesAboutFlushes = false
    /// Bytes that may still be written; nil: as many as there are.
    package var bytesLeft: Int?
    /// Calls that will still find no space.
    package var callsWithoutSpace = 0
    /// How often each has happened.
    package internal(set) var counts: [Kind: Int] = [:]

    package init() {}

    /// Calls that have failed, for good or for a while.
    var failures: Int {
        [.noSpace, .readError, .writeError, .flushError].reduce(0) { $0 + counts[$1, default: 0] }
    }

    mutating func count(_ kind: Kind) { counts[kind, default: 0] += 1 }

    /// Whether one happens now.
    mutating func happens(_ kind: Kind, _ random: inout SplitMix) -> Bool {
        guard !chances.isEmpty, let chance = chances[kind], random.happens(chance) else {
            return false
        }
        count(kind)
        return true
    }

    /// How many of `wanted` bytes there is room for; nil: for none, and the call fails. A new name takes
    /// none, and needs some.
    mutating func room(for wanted: Int, _ random: inout SplitMix) -> Int? {
        if callsWithoutSpace > 0 {
            callsWithoutSpace -= 1
            count(.noSpace)
            return nil
        }
        if happens(.noSpace, &random) {
            callsWithoutSpace = Int.random(in: 0...20, using: &random)
            return nil
        }
        guard let left = bytesLeft else { return wanted }
        guard left > 0 else {
            count(.noSpace)
            return nil
        }
        bytesLeft = left - min(wanted, left)
        return min(wanted, left)
    }
}
