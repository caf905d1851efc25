import Foundation
import SkeinBasics

/// The disk as one process has it: dead with the process, and so are its descriptors and locks.
package final class SimulatedProcess: FileCalls, @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    let disk: SimulatedDisk
    private let number: Int
    private var death: (count: Int, of: SimulatedDisk.Call)?
    private let die: () -> Void
    private var interruption: (count: Int, body: () -> Void)?
    /// Lets time pass where a call blocks; nil: none does. The process may die meanwhile.
    var blocks: ((BlockingCall) -> Void)?
    var files: [Int32: OpenFile] = [:]
    package private(set) var isDead = false
    /// Calls that it has made, of each kind.
    package private(set) var callCount = 0
    package private(set) var changeCount = 0

    init(
        _ disk: SimulatedDisk, number: Int, _ death: (count: Int, of: SimulatedDisk.Call)?,
        _ die: @escaping () -> Void
    ) {
        self.disk = disk
        self.number = number
        self.death = death
        self.die = die
    }

    /// The real store over these calls.
    package var store: DiskStore { DiskStore(calls: self) }

    /// Digits, as those of the system's processes are (`AtomicFile.mark`).
    package var mark: String { "0\(number)3000000000" }
    package var user: uid_t { Self.owner }
    static let owner: uid_t = 1000

    /// What a descriptor names. It ends with the last of them.
    final class OpenFile {
        let node: DiskNode
        /// From the root to the directory that held it when it was opened.
        let directories: [DiskNode]
        let flags: Int32
        var offset = 0

        init(_ node: DiskNode, in directories: [DiskNode], _ flags: Int32) {
            self.node = node
            self.directories = directories
            self.flags = flags
        }

        deinit { node.unlock(ObjectIdentifier(self)) }

        var reads: Bool { flags & O_ACCMODE != O_WRONLY }
        var writes: Bool { flags & O_ACCMODE != O_RDONLY }
        var appends: Bool { flags & O_APPEND != 0 }
    }

    // MARK: Death

    /// The process has died of something else.
    package func end() {
        isDead = true
        files = [:]
    }

    /// It dies after so many further calls of that kind.
    func die(after death: (count: Int, of: SimulatedDisk.Call)) { self.death = death }

    /// Behind so many further calls that change the disk, `body` comes before the next one is made: it may
    /// use the disk as another process.
    func interrupt(after count: Int, _ body: @escaping () -> Void) { interruption = (count, body) }

    /// A call that takes its time.
    enum BlockingCall {
        case flush
        case pause(Duration)
        /// Reads or writes at a place of a file.
        case transfer
    }

    enum Effect { case none, change, line, name }

    /// Between two calls: the process may die here.
    ///
    /// - Parameters:
    ///   - effect: what the call does.
    ///   - half: what of it is done by a process that dies within it.
    /// - Throws: `ProcessDied`.
    func begin(_ effect: Effect = .none, half: () -> Void = {}) throws {
        if isDead { throw ProcessDied() }
        callCount += 1
        if effect != .none { changeCount += 1 }
        if effect != .none, let interruption {
            self.interruption?.count -= 1
            if interruption.count <= 0 {
                self.interruption = nil
                interruption.body()
            }
        }
        guard let death else { return }
        let counts =
            switch death.of {
            case .any: true
            case .change: effect != .none
            case .line: effect == .line
            case .name, .behindName: effect == .name
            }
        guard counts else { return }
        self.death?.count -= 1
        guard death.count <= 0 else { return }
        if case .behindName = death.of {
            self.death = (0, .any)
            return
        }
        half()
        end()
        die()
        throw ProcessDied()
    }

    func happens(_ kind: DiskFaults.Kind) -> Bool {
        disk.faults.happens(kind, &disk.faultRandom)
    }

    /// Draws for calls that use some of the disk's room.
    func room(for count: Int) -> Int? {
        disk.faults.room(for: count, &disk.faultRandom)
    }

    // MARK: Descriptors

    package func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> CallResult<Int32> {
        let makes = flags & O_CREAT != 0
        try begin(makes || flags & O_TRUNC != 0 ? .change : .none)
        if happens(.interruption) { return .failed(EINTR) }
        switch disk.place(path) {
        case .failed(let code): return .failed(code)
        case .done(let place):
            let writes = flags & O_ACCMODE != O_RDONLY
            if let node = place.node {
                if makes, flags & O_EXCL != 0 { return .failed(EEXIST) }
                if node.isDirectory, makes || writes { return .failed(EISDIR) }
                if !node.isDirectory, flags & O_DIRECTORY != 0 { return .failed(ENOTDIR) }
                if flags & O_TRUNC != 0, writes {
                    node.cut(to: 0)
                    node.modified = disk.time()
                }
                return .done(descriptor(OpenFile(node, in: place.directories, flags)))
            }
            guard makes else { return .failed(ENOENT) }
            if place.isWithin { return .failed(EISDIR) }
            guard room(for: 0) != nil else { return .failed(ENOSPC) }
            let node = disk.newNode(isDirectory: false, mode: mode)
            disk.change(.making, [(place.directory, place.name, node)])
            return .done(descriptor(OpenFile(node, in: place.directories, flags)))
        }
    }

    /// The lowest number that is free, as the system's are.
    private func descriptor(_ file: OpenFile) -> Int32 {
        var number: Int32 = 3
        while files[number] != nil { number += 1 }
        files[number] = file
        return number
    }

    package func duplicate(_ descriptor: Int32) throws -> CallResult<Int32> {
        try begin()
        guard let file = files[descriptor] else { return .failed(EBADF) }
        return .done(self.descriptor(file))
    }

    package func close(_ descriptor: Int32) { files[descriptor] = nil }

    package func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws -> CallResult<Int> {
        try begin()
        guard let file = files[descriptor], file.reads else { return .failed(EBADF) }
        let result = read(file, at: file.offset, buffer)
        if case .done(let count) = result { file.offset += count }
        return result
    }

    package func read(
        _ descriptor: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws -> CallResult<Int> {
        blocks?(.transfer)
        try begin()
        if offset < 0 { return .failed(EINVAL) }
        guard let file = files[descriptor], file.reads else { return .failed(EBADF) }
        return read(file, at: offset, buffer)
    }

    private func read(
        _ file: OpenFile, at offset: Int, _ buffer: UnsafeMutableRawBufferPointer
    ) -> CallResult<Int> {
        if file.node.isDirectory { return .failed(EISDIR) }
        if happens(.interruption) { return .failed(EINTR) }
        if happens(.readError) || file.node.isUnreadable { return .failed(EIO) }
        var count = max(0, min(buffer.count, file.node.bytes.count - offset))
        if count > 1, happens(.shortRead) {
            count = Int.random(in: 1..<count, using: &disk.faultRandom)
        }
        if count > 0 {
            file.node.bytes.withUnsafeBytes {
                buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
            }
        }
        return .done(count)
    }

    package func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer
    ) throws -> CallResult<Int> {
        let file = files[descriptor]
        let offset = file.map { $0.appends ? $0.node.bytes.count : $0.offset } ?? 0
        let result = try write(file, at: offset, bytes)
        if case .done(let count) = result { file?.offset = offset + count }
        return result
    }

    package func write(
        _ descriptor: Int32, at offset: Int, _ bytes: UnsafeRawBufferPointer
    ) throws -> CallResult<Int> {
        blocks?(.transfer)
        let file = files[descriptor]
        if offset < 0 { return .failed(EINVAL) }
        // So does Linux.
        let end = file.flatMap { $0.appends ? $0.node.bytes.count : nil }
        return try write(file, at: end ?? offset, bytes)
    }

    private func write(
        _ file: OpenFile?, at offset: Int, _ bytes: UnsafeRawBufferPointer
    ) throws -> CallResult<Int> {
        try begin(file?.appends == true ? .line : .change) {
            guard let file, file.writes else { return }
            let part = disk.part(of: bytes.count)
            file.node.write(UnsafeRawBufferPointer(rebasing: bytes[..<part]), at: offset)
        }
        guard let file, file.writes else { return .failed(EBADF) }
        if happens(.interruption) { return .failed(EINTR) }
        if happens(.writeError) { return .failed(EIO) }
        guard var count = room(for: bytes.count) else { return .failed(ENOSPC) }
        if count > 1, happens(.shortWrite) {
            count = Int.random(in: 1..<count, using: &disk.faultRandom)
        }
        file.node.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
        file.node.modified = disk.time()
        return .done(count)
    }

    package func cut(_ descriptor: Int32, to count: Int) throws -> CallResult<Void> {
        let file = files[descriptor]
        try begin(file?.appends == true ? .line : .change)
        if count < 0 { return .failed(EINVAL) }
        guard let file else { return .failed(EBADF) }
        guard file.writes else { return .failed(EINVAL) }
        if happens(.interruption) { return .failed(EINTR) }
        if happens(.writeError) { return .failed(EIO) }
        file.node.cut(to: count)
        file.node.modified = disk.time()
        return .done
    }

    package func flush(_ descriptor: Int32) throws -> CallResult<Void> {
        if let blocks {
            blocks(.flush)
            if isDead { throw ProcessDied() }
        }
        let file = files[descriptor]
        try begin(file?.node.isDirectory == true ? .name : file?.appends == true ? .line : .change)
        guard let file else { return .failed(EBADF) }
        if happens(.interruption) { return .failed(EINTR) }
        if happens(.flushError) {
            // Names are in the journal of a file system, which would no longer write at all.
            if !file.node.isDirectory { file.node.failToFlush() }
            return .failed(EIO)
        }
        if disk.faults.liesAboutFlushes {
            disk.faults.count(.lostFlush)
            return .done
        }
        if happens(.lostFlush) { return .done }
        disk.flush(file.node, in: file.directories)
        return .done
    }

    // MARK: Locks

    package func lock(_ descriptor: Int32, _ kind: Int32) throws -> CallResult<Void> {
        try begin(.change)
        guard let file = files[descriptor] else { return .failed(EBADF) }
        if happens(.interruption) { return .failed(EINTR) }
        let isAlone = kind & LOCK_EX != 0
        let own = ObjectIdentifier(file)
        if file.node.holds(own, alone: isAlone) { return .done }
        // As in Linux, the former kind is gone even where the new one cannot be had.
        file.node.unlock(own)
        if file.node.isLocked(for: own, alone: isAlone) {
            // The one thread there is would wait for ever.
            guard file.node.isForeign(to: number), happens(.sharedLock) else {
                return .failed(EWOULDBLOCK)
            }
        }
        file.node.lock(for: own, of: number, alone: isAlone)
        return .done
    }

    package func unlock(_ descriptor: Int32) {
        if let file = files[descriptor] { file.node.unlock(ObjectIdentifier(file)) }
    }
}
