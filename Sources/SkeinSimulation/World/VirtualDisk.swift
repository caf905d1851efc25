import Foundation
import SkeinBasics

/// The process has died; nothing catches this but the start of the next one.
struct ProcessDied: Error {}

/// A disk that outlives its processes. It knows what a program would read and what would be left
/// after a loss of power, and it can kill the process that uses it between any two steps of an
/// operation.
final class VirtualDisk: @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    private var files: [String: [UInt8]] = [:]
    private var flushed: [String: [UInt8]] = [:]
    private var directories: Set<String> = []
    private var flushedDirectories: Set<String> = []
    /// New names, in their order, that are gone after a loss of power.
    private var moves: [(old: String, new: String)] = []
    /// Removed, but not for certain after a loss of power.
    private var removed: Set<String> = []
    private var random: SplitMix
    fileprivate var locks: [String: ObjectIdentifier] = [:]

    init(seed: UInt64) { random = SplitMix(state: ~seed) }

    /// A file as it would be read; nil: there is none.
    subscript(path: String) -> [UInt8]? { files[path] }

    /// A step of an operation. The last two are few among many.
    enum Step {
        case any
        /// A step of a file that grows.
        case line
        /// A step of a file or directory that gets another name.
        case name
    }

    /// Opens the disk for a process.
    ///
    /// - Parameters:
    ///   - death: the process dies after this many steps of that kind; nil: of something else.
    ///   - die: called once, when it does.
    /// - Returns: the disk as that process has it.
    func opened(
        dyingAfter death: (count: Int, of: Step)? = nil, _ die: @escaping () -> Void = {}
    ) -> VirtualStore {
        VirtualStore(self, death, die)
    }

    /// Takes everything back that was not flushed, in one of the ways in which disks do that.
    func loosePower() {
        for path in files.keys.sorted() {
            // What was appended may be there in part, or as zeros that were never filled.
            guard let bytes = files[path], let old = flushed[path], bytes != old,
                bytes.starts(with: old), random.happens(0.7)
            else { continue }
            let more = Int.random(in: 0...bytes.count - old.count, using: &random)
            flushed[path] =
                random.happens(0.3)
                ? old + [UInt8](repeating: 0, count: more) : Array(bytes.prefix(old.count + more))
        }
        for path in removed.sorted() where random.happens(0.5) { flushed[path] = nil }
        removed = []
        moves = []
        files = flushed
        for path in flushedDirectories.subtracting(directories)
        where below(path, flushed.keys).isEmpty { flushedDirectories.remove(path) }
        directories = flushedDirectories
    }

    /// All that a disk holds at one moment.
    struct Copy {
        fileprivate let files: [String: [UInt8]]
        fileprivate let flushed: [String: [UInt8]]
        fileprivate let directories: Set<String>
        fileprivate let flushedDirectories: Set<String>
        fileprivate let moves: [(old: String, new: String)]
        fileprivate let removed: Set<String>
    }

    /// What is copied to another place, while no process uses the disk.
    func copied() -> Copy {
        Copy(
            files: files, flushed: flushed, directories: directories,
            flushedDirectories: flushedDirectories, moves: moves, removed: removed)
    }

    /// Puts a copy in place of all that is there.
    func restore(_ copy: Copy) {
        (files, flushed) = (copy.files, copy.flushed)
        (directories, flushedDirectories) = (copy.directories, copy.flushedDirectories)
        (moves, removed) = (copy.moves, copy.removed)
    }

    // MARK: What a store does step by step

    fileprivate func makeDirectory(_ path: String) {
        directories.insert(path)
        flushedDirectories.insert(path)
    }

    fileprivate func names(in directory: String) -> [String] {
        let prefix = directory + "/"
        let paths =
            files.keys.filter { $0.hasPrefix(prefix) }
            + directories.filter { $0.hasPrefix(prefix) }
        return Set(paths.map { String($0.dropFirst(prefix.count).prefix { $0 != "/" }) }).sorted()
    }

    fileprivate func exists(_ path: String) -> Bool {
        files[path] != nil || directories.contains(path)
    }

    fileprivate func put(_ bytes: [UInt8], _ path: String) { files[path] = bytes }

    fileprivate func flush(_ path: String) {
        flushed[path] = files[path]
        removed.remove(path)
    }

    /// A file, or a directory with all that is in it.
    private func below(_ path: String, _ names: some Sequence<String>) -> [String] {
        names.filter { $0 == path || $0.hasPrefix(path + "/") }.sorted()
    }

    /// Gives a file, or a directory with all that is in it, another name, as rename(2) does: in place
    /// of a file, or of a directory that is empty.
    fileprivate func move(_ old: String, _ new: String) throws {
        if let code = obstacle(old, new) {
            throw FileError.failed(operation: "rename into place", path: new, code: code)
        }
        moves.append((old, new))
        for path in below(old, files.keys) {
            files[new + path.dropFirst(old.count)] = files.removeValue(forKey: path)
        }
        for path in below(old, directories) {
            directories.remove(path)
            directories.insert(new + path.dropFirst(old.count))
        }
    }

    /// Why `old` cannot have the name `new`; nil: it can.
    private func obstacle(_ old: String, _ new: String) -> Int32? {
        let isDirectory = directories.contains(old)
        if !isDirectory, files[old] == nil { return ENOENT }
        if files[new] != nil { return isDirectory ? ENOTDIR : nil }
        guard directories.contains(new) else { return nil }
        if !isDirectory { return EISDIR }
        return names(in: new).isEmpty ? nil : ENOTEMPTY
    }

    /// Makes the names of the directory that holds `path` what they are for a reader: also those that
    /// a process gave before it was killed.
    fileprivate func flushNames(beside path: String) {
        let directory = FilePath.parent(of: path)
        for move in moves where FilePath.parent(of: move.new) == directory {
            flushMove(move.old, move.new)
        }
        moves.removeAll { FilePath.parent(of: $0.new) == directory }
        for path in removed where isGone(path, from: directory) {
            flushed[path] = nil
            removed.remove(path)
        }
    }

    /// Whether a file that was removed stood in a directory, or in one that was removed from it.
    private func isGone(_ path: String, from directory: String) -> Bool {
        guard path.hasPrefix(directory + "/") else { return false }
        let names = path.dropFirst(directory.count + 1).split(separator: "/")
        return names.count == 1 || !directories.contains(directory + "/" + names[0])
    }

    private func flushMove(_ old: String, _ new: String) {
        let moved = below(old, flushed.keys)
        // If two files had the same name one after the other, the second is there.
        guard !moved.isEmpty || flushedDirectories.contains(old) else { return }
        for path in below(new, flushed.keys) { flushed[path] = nil }
        for path in moved {
            let name = new + path.dropFirst(old.count)
            flushed[name] = flushed.removeValue(forKey: path)
            if files[name] != nil { removed.remove(name) }
        }
        for path in below(old, flushedDirectories) {
            flushedDirectories.remove(path)
            flushedDirectories.insert(new + path.dropFirst(old.count))
        }
    }

    fileprivate func paths(below path: String) -> [String] { below(path, files.keys) }

    fileprivate func removeFile(_ path: String) {
        files[path] = nil
        removed.insert(path)
    }

    fileprivate func removeDirectories(below path: String) {
        for path in below(path, directories) { directories.remove(path) }
    }
}

/// The disk as one process has it: dead with the process.
final class VirtualStore: Store, @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    fileprivate let disk: VirtualDisk
    private var death: (count: Int, of: VirtualDisk.Step)?
    private let die: () -> Void
    private(set) var isDead = false

    fileprivate init(
        _ disk: VirtualDisk, _ death: (count: Int, of: VirtualDisk.Step)?,
        _ die: @escaping () -> Void
    ) {
        self.disk = disk
        self.death = death
        self.die = die
    }

    /// The process has died of something else.
    func end() {
        isDead = true
        disk.locks = disk.locks.filter { $0.value != ObjectIdentifier(self) }
    }

    /// Between two steps: the process may die here.
    fileprivate func step(_ kind: VirtualDisk.Step = .any) throws {
        if isDead { throw ProcessDied() }
        guard let death, death.of == .any || death.of == kind else { return }
        self.death?.count -= 1
        guard death.count <= 0 else { return }
        end()
        die()
        throw ProcessDied()
    }

    fileprivate func contents(of path: String) throws -> [UInt8] {
        guard let bytes = disk[path] else {
            throw FileError.failed(operation: "open", path: path, code: ENOENT)
        }
        return bytes
    }

    func makeDirectory(_ path: String) throws {
        try step()
        disk.makeDirectory(path)
    }

    func names(in path: String) throws -> [String] {
        try step()
        return disk.names(in: path)
    }

    func exists(_ path: String) -> Bool { disk.exists(path) }

    func write(
        to path: String, check: () throws -> Void,
        _ body: (_ append: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        try step()
        let temporary = path + ".tmp-1"
        var bytes: [UInt8] = []
        try body { bytes += $0 }
        disk.put(Array(bytes.prefix(bytes.count / 2)), temporary)
        try step()
        disk.put(bytes, temporary)
        try step()
        disk.flush(temporary)
        try step()
        try check()
        try disk.move(temporary, path)
        try step()
        disk.flushNames(beside: path)
    }

    func file(
        copying path: String, check: (_ file: MappedFile.Preview) throws -> Void
    ) throws -> MappedFile {
        try step()
        let bytes = try contents(of: path)
        try check(MappedFile.Preview(path: path, bytes: bytes))
        return try MappedFile(path: path, bytes: bytes)
    }

    func digest(
        of path: String, check: (_ count: Int) throws -> Void
    ) throws -> (count: Int, digest: SHA256.Digest) {
        try step()
        let bytes = try contents(of: path)
        try check(bytes.count)
        return (bytes.count, bytes.withUnsafeBytes { SHA256.digest(of: $0) })
    }

    func rename(_ old: String, to new: String) throws {
        try step(.name)
        try disk.move(old, new)
        try step(.name)
        disk.flushNames(beside: new)
        try step(.name)
    }

    func remove(_ path: String) throws {
        try step()
        for file in disk.paths(below: path) {
            disk.removeFile(file)
            try step()
        }
        disk.removeDirectories(below: path)
    }

    func growingFile(_ path: String) throws -> any GrowingFile {
        try step()
        if disk[path] == nil {
            disk.put([], path)
            disk.flush(path)
        }
        disk.flushNames(beside: path)
        return VirtualFile(path, self)
    }

    func lock(_ path: String) throws -> (any Sendable & AnyObject)? {
        try step()
        if let holder = disk.locks[path], holder != ObjectIdentifier(self) { return nil }
        if disk[path] == nil { disk.put([], path) }
        disk.locks[path] = ObjectIdentifier(self)
        return self
    }
}

private final class VirtualFile: GrowingFile, @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    private let path: String
    private let store: VirtualStore

    init(_ path: String, _ store: VirtualStore) {
        self.path = path
        self.store = store
    }

    func cut(to count: Int) throws {
        try store.step(.line)
        store.disk.put(Array(try store.contents(of: path).prefix(count)), path)
        try store.step(.line)
        store.disk.flush(path)
    }

    func append(_ bytes: [UInt8]) throws {
        try store.step(.line)
        let old = try store.contents(of: path)
        store.disk.put(old + bytes.prefix(bytes.count / 2), path)
        try store.step(.line)
        store.disk.put(old + bytes, path)
        try store.step(.line)
        store.disk.flush(path)
    }
}
