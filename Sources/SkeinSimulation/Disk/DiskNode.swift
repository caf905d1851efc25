import Foundation

/// A file or directory of a `SimulatedDisk`: what a reader finds, and what would be left of it after a
/// loss of power.
final class DiskNode {
    /// In the order in which they were made.
    let number: Int
    let isDirectory: Bool
    var mode: mode_t
    var modified: Int64 = 0
    /// The disk has lost it: each read gives EIO.
    var isUnreadable = false
    /// Open files that hold its lock, and whether alone.
    private var holders: [(file: ObjectIdentifier, process: Int, isAlone: Bool)] = []

    // A file. What is durable is `bytes[..<durableCount] + durableTail`: to flush costs nothing, and to
    // overwrite as much as is overwritten.
    private(set) var bytes: [UInt8] = []
    private(set) var durableCount = 0
    private(set) var durableTail: [UInt8] = []
    /// Bytes that the disk could not write when it was told to. A second fsync says nothing of them.
    private var doomed: Range<Int>?

    // A directory.
    var entries: [String: DiskNode] = [:]
    var durableEntries: [String: DiskNode] = [:]
    /// What has changed its entries and is not durable, in order.
    var pending: [NameChange] = []

    init(number: Int, isDirectory: Bool, mode: mode_t) {
        self.number = number
        self.isDirectory = isDirectory
        self.mode = mode
    }

    // MARK: Bytes

    /// Overwrites or appends; a gap before them is zeros.
    func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
        guard !new.isEmpty else { return }
        saveDurable(from: offset)
        if offset > bytes.count {
            bytes.append(contentsOf: repeatElement(0, count: offset - bytes.count))
        }
        let end = offset + new.count
        let overlap = min(new.count, bytes.count - offset)
        if overlap > 0 {
            bytes.withUnsafeMutableBytes {
                UnsafeMutableRawBufferPointer(rebasing: $0[offset..<offset + overlap])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: new[..<overlap]))
            }
        }
        if overlap < new.count { bytes.append(contentsOf: new[overlap...]) }
        spare(offset..<end)
    }

    func cut(to count: Int) {
        saveDurable(from: count)
        if count < bytes.count {
            bytes.removeLast(bytes.count - count)
            spare(count..<Int.max)
        } else {
            bytes.append(contentsOf: repeatElement(0, count: count - bytes.count))
        }
    }

    /// Keeps what is durable from `offset` on, which is about to be overwritten.
    private func saveDurable(from offset: Int) {
        guard offset < durableCount else { return }
        durableTail = Array(bytes[offset..<durableCount]) + durableTail
        durableCount = offset
    }

    func flush() {
        durableCount = bytes.count
        durableTail = []
    }

    /// A flush that fails: as with Linux, what was to be written is not tried again.
    func failToFlush() {
        if bytes.count > durableCount {
            doomed = min(durableCount, doomed?.lowerBound ?? .max)..<bytes.count
        }
        flush()
    }

    /// These bytes are new.
    private func spare(_ range: Range<Int>) {
        guard let old = doomed, old.overlaps(range) else { return }
        let before = old.lowerBound..<max(old.lowerBound, range.lowerBound)
        let after = min(old.upperBound, range.upperBound)..<old.upperBound
        // What lies behind is thought to be bad, too, where both are left.
        doomed = before.isEmpty ? after.isEmpty ? nil : after : before
    }

    /// Takes everything back that was not flushed, in one of the ways in which disks do that.
    func losePower(_ random: inout SplitMix) {
        if durableTail.isEmpty {
            let more = bytes.count - durableCount
            if more > 0 {
                // What was appended may be there in part, or as zeros that were never filled.
                let kept =
                    switch random.unit() {
                    case ..<0.2: 0
                    case ..<0.4: more
                    default: Int.random(in: 0...more, using: &random)
                    }
                bytes.removeLast(more - kept)
                if random.happens(0.3) { zero(durableCount..<bytes.count) }
            }
        } else if random.happens(0.7) {
            // What was overwritten is the new up to somewhere, and the old behind that.
            let old = durableTail
            let place = Int.random(in: 0...old.count, using: &random)
            let end = min(bytes.count, durableCount + place)
            bytes = Array(bytes[..<end]) + old[(end - durableCount)...]
        } else {
            bytes = Array(bytes[..<durableCount]) + durableTail
        }
        if let range = doomed {
            zero(range.clamped(to: 0..<bytes.count))
            doomed = nil
        }
        flush()
    }

    private func zero(_ range: Range<Int>) { for index in range { bytes[index] = 0 } }

    /// A bit of a file at rest changes.
    func rot(_ random: inout SplitMix) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: bytes.indices, using: &random)
        let bit: UInt8 = 1 << UInt8.random(in: 0..<8, using: &random)
        bytes[index] ^= bit
        let place = index - durableCount
        if durableTail.indices.contains(place) { durableTail[place] ^= bit }
    }

    // MARK: Locks

    /// - Returns: whether another process has the lock so that this one cannot.
    func isLocked(for file: ObjectIdentifier, alone isAlone: Bool) -> Bool {
        holders.contains { $0.file != file && ($0.isAlone || isAlone) }
    }

    /// Whether an open file has it already, in this way.
    func holds(_ file: ObjectIdentifier, alone isAlone: Bool) -> Bool {
        holders.contains { $0.file == file && $0.isAlone == isAlone }
    }

    /// Whether only other processes have it.
    func isForeign(to process: Int) -> Bool { holders.allSatisfy { $0.process != process } }

    func lock(for file: ObjectIdentifier, of process: Int, alone isAlone: Bool) {
        unlock(file)
        holders.append((file, process, isAlone))
    }

    func unlock(_ file: ObjectIdentifier) { holders.removeAll { $0.file == file } }

    /// Its server has forgotten who had it; those do not notice.
    ///
    /// - Returns: whether it was locked.
    func loseLocks() -> Bool {
        defer { holders = [] }
        return !holders.isEmpty
    }

    // MARK: Copies

    /// A copy that has nothing in it yet.
    func hollowCopy() -> DiskNode {
        let copy = DiskNode(number: number, isDirectory: isDirectory, mode: mode)
        copy.modified = modified
        copy.bytes = bytes
        copy.durableCount = durableCount
        copy.durableTail = durableTail
        copy.doomed = doomed
        return copy
    }
}

/// A change of names that is not durable: all of it is kept, or nothing.
final class NameChange {
    enum Kind { case making, removal, renaming }

    struct Part {
        weak var directory: DiskNode?
        let name: String
        let node: DiskNode?
    }

    let number: Int
    let kind: Kind
    let parts: [Part]
    private(set) var isDurable = false

    init(number: Int, _ kind: Kind, _ parts: [Part]) {
        self.number = number
        self.kind = kind
        self.parts = parts
    }

    /// Makes it durable, after those before it that it builds on.
    func settle() {
        guard !isDurable else { return }
        isDurable = true
        for part in parts {
            guard let directory = part.directory else { continue }
            for earlier in directory.pending where earlier.number < number && !earlier.isDurable {
                if earlier.parts.contains(where: {
                    $0.directory === directory && $0.name == part.name
                }) {
                    earlier.settle()
                }
            }
        }
        for part in parts { part.directory?.durableEntries[part.name] = part.node }
    }
}
