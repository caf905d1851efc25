import Foundation
import SkeinBasics

/// The process has died; nothing catches this but the start of the next one.
package struct ProcessDied: Error {}

/// A disk that outlives its processes, as their system calls have it.
///
/// It knows what a program would read and what would be left after a loss of power. What an fsync of a
/// file has not written may be lost, and so may names that no fsync of their directory has. All is a
/// function of the seed and of the calls.
package final class SimulatedDisk: @unchecked Sendable {
    // Sendable: used on the world's thread alone.

    private(set) var root: DiskNode
    package var faults = DiskFaults()
    /// Whether a process that asks learns how much room is left.
    var tellsRoom = true
    /// Now, in nanoseconds. Without one every change has its own time.
    package var clock: (() -> Int64)?
    /// For power and rot; faults of calls are drawn apart, so that one more changes nothing else.
    private var random: SplitMix
    var faultRandom: SplitMix
    private var nodeCount = 0
    private var changeCount = 0
    private var processCount = 0
    private var ticks: Int64 = 0
    /// Where directories are, until one gets another name or none. Most files have a few.
    private var known: [Substring: [DiskNode]] = [:]

    package init(seed: UInt64) {
        random = SplitMix(state: ~seed)
        faultRandom = SplitMix(state: seed &+ 0x5DEE_CE66)
        root = DiskNode(number: 0, isDirectory: true, mode: 0o755)
    }

    /// A file as it would be read; nil: there is none.
    package subscript(path: String) -> [UInt8]? {
        guard let node = node(at: path), !node.isDirectory else { return nil }
        return node.bytes
    }

    /// A call at which a process may die.
    package enum Call: Sendable {
        case any
        /// One that changes the disk, or makes a change durable. What all others leave is the same.
        case change
        /// One of those of a file that grows.
        case line
        /// One that gives a file or directory another name or none, or makes that durable.
        case name
        /// The call behind one of these, whatever it is.
        case behindName
    }

    /// Opens the disk for a process.
    ///
    /// - Parameters:
    ///   - death: the process dies after this many calls of that kind: before the next one, or with that
    ///     write half done; nil: of something else.
    ///   - die: called once, when it does.
    /// - Returns: the disk as that process has it.
    package func opened(
        dyingAfter death: (count: Int, of: Call)? = nil, _ die: @escaping () -> Void = {}
    ) -> SimulatedProcess {
        processCount += 1
        return SimulatedProcess(self, number: processCount, death, die)
    }

    func time() -> Int64 {
        if let clock { return clock() }
        ticks += 1
        return ticks
    }

    func newNode(isDirectory: Bool, mode: mode_t) -> DiskNode {
        nodeCount += 1
        let node = DiskNode(number: nodeCount, isDirectory: isDirectory, mode: mode)
        node.modified = time()
        return node
    }

    /// How much of a write is done when its process dies.
    func part(of count: Int) -> Int { Int.random(in: 0...count, using: &random) }

    // MARK: Names

    /// Where a path leads.
    struct Place {
        /// From the root to the directory that holds it.
        var directories: [DiskNode]
        /// Empty for the root; "." and ".." stay as they are.
        var name: String
        var node: DiskNode?
        /// Whether it ends with a slash.
        var isWithin: Bool

        var directory: DiskNode { directories[directories.count - 1] }
        var isSpecial: Bool { name.isEmpty || name == "." || name == ".." }
    }

    func place(_ path: String) -> CallResult<Place> {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return walk(path) }
        let name = String(path[path.utf8.index(after: slash)...])
        if name.isEmpty || name == "." || name == ".." || name.utf8.count > 255 {
            return walk(path)
        }
        if let directories = known[path[..<slash]], let last = directories.last {
            return .done(
                Place(
                    directories: directories, name: name, node: last.entries[name],
                    isWithin: false))
        }
        let result = walk(path)
        if case .done(let place) = result {
            known[Substring(String(path[..<slash]))] = place.directories
        }
        return result
    }

    /// Forgets where directories are.
    func forgetPlaces() { known.removeAll(keepingCapacity: true) }

    private func walk(_ path: String) -> CallResult<Place> {
        if path.isEmpty { return .failed(ENOENT) }
        var place = Place(directories: [root], name: "", node: root, isWithin: false)
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            guard part.count <= 255 else { return .failed(ENAMETOOLONG) }
            if !place.name.isEmpty {
                guard let node = place.node else { return .failed(ENOENT) }
                guard node.isDirectory else { return .failed(ENOTDIR) }
                switch place.name {
                case ".": break
                case "..": if place.directories.count > 1 { place.directories.removeLast() }
                default: place.directories.append(node)
                }
            }
            place.name = String(Substring(part))
            switch place.name {
            case ".": place.node = place.directory
            case "..": place.node = place.directories.dropLast().last ?? root
            default: place.node = place.directory.entries[place.name]
            }
        }
        place.isWithin = path.utf8.last == UInt8(ascii: "/")
        if place.isWithin, let node = place.node, !node.isDirectory { return .failed(ENOTDIR) }
        return .done(place)
    }

    func node(at path: String) -> DiskNode? {
        if case .done(let place) = place(path) { place.node } else { nil }
    }

    /// Changes entries, which is durable once one of their directories is flushed.
    func change(_ kind: NameChange.Kind, _ parts: [(DiskNode, String, DiskNode?)]) {
        changeCount += 1
        let change = NameChange(
            number: changeCount, kind,
            parts.map { NameChange.Part(directory: $0.0, name: $0.1, node: $0.2) })
        for (directory, name, node) in parts {
            directory.entries[name] = node
            directory.modified = time()
            if directory.pending.last !== change { directory.pending.append(change) }
        }
    }

    /// Makes a file's bytes or a directory's entries durable, and that the directories are there in which
    /// it is: ext4, XFS, Btrfs and F2FS all do that, though POSIX does not ask for it.
    func flush(_ node: DiskNode, in directories: [DiskNode]) {
        let chain = node.isDirectory ? directories + [node] : directories
        for (parent, child) in zip(chain, chain.dropFirst()) {
            for change in parent.pending where change.kind == .making {
                if change.parts.contains(where: { $0.node === child }) { change.settle() }
            }
        }
        guard node.isDirectory else { return node.flush() }
        for change in node.pending { change.settle() }
        node.pending = []
    }

    // MARK: What happens to a disk

    /// Takes everything back that was not flushed, in one of the ways in which disks do that. No process
    /// may use it meanwhile.
    package func losePower() {
        forgetPlaces()
        var changes: [NameChange] = []
        for node in nodes() where node.isDirectory {
            changes += node.pending.filter { !$0.isDurable }
            node.pending.removeAll { $0.isDurable }
        }
        changes.sort { $0.number < $1.number }
        let chance = [0, 0.3, 0.7, 1][Int.random(in: 0..<4, using: &random)]
        // Names are given one after the other: one that is lost takes those after it along.
        var isRenamingLost = false
        for change in changes where !change.isDurable {
            var isKept = random.happens(chance)
            if change.kind == .renaming {
                isKept = isKept && !isRenamingLost
                isRenamingLost = !isKept
            }
            if isKept { change.settle() }
        }
        for node in nodes() where node.isDirectory {
            node.pending = []
            node.entries = node.durableEntries
        }
        for node in nodes() where !node.isDirectory { node.losePower(&random) }
    }

    /// All nodes that a name leads to, or did when names were last durable, in the order in which they
    /// were made.
    private func nodes() -> [DiskNode] {
        var found: [ObjectIdentifier: DiskNode] = [:]
        var open = [root]
        while let node = open.popLast() {
            guard found.updateValue(node, forKey: ObjectIdentifier(node)) == nil else { continue }
            open += node.entries.values
            open += node.durableEntries.values
            for change in node.pending { open += change.parts.compactMap(\.node) }
        }
        return found.values.sorted { $0.number < $1.number }
    }

    /// Changes a bit of a file.
    ///
    /// - Parameter path: of the file, or of a directory that has some.
    /// - Returns: the path of the file; nil: there is none with bytes.
    package func rot(below path: String) -> String? {
        guard let node = node(at: path) else { return nil }
        var files: [(path: String, node: DiskNode)] = []
        func look(_ path: String, _ node: DiskNode) {
            if !node.isDirectory, !node.bytes.isEmpty { files.append((path, node)) }
            for (name, node) in node.entries { look(FilePath.join(path, name), node) }
        }
        look(path, node)
        files.sort { $0.path < $1.path }
        guard let file = files.randomElement(using: &random) else { return nil }
        file.node.rot(&random)
        faults.count(.rot)
        return file.path
    }

    /// A sector of a file is bad from now on.
    func spoil(_ path: String) { node(at: path)?.isUnreadable = true }

    /// Forgets who has a file locked, as the server of a network file system may.
    package func loseLocks(of path: String) {
        if node(at: path)?.loseLocks() == true { faults.count(.lostLock) }
    }

    /// All files as they would be read, by their paths.
    var contents: [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        func look(_ path: String, _ node: DiskNode) {
            if !node.isDirectory { found[path] = node.bytes }
            for (name, node) in node.entries { look(FilePath.join(path, name), node) }
        }
        look("/", root)
        return found
    }

    /// All that a directory holds at one moment, and what of it is durable.
    package struct Copy {
        fileprivate let path: String
        fileprivate let node: DiskNode
    }

    /// What is copied to another place, while no process uses the disk; nil: there is no such directory.
    package func copied(_ path: String = "/") -> Copy? {
        node(at: path).map { Copy(path: path, node: Self.copy($0)) }
    }

    /// Puts a copy in place of all that is there.
    package func restore(_ copy: Copy) {
        defer { forgetPlaces() }
        let node = Self.copy(copy.node)
        guard case .done(let place) = place(copy.path), !place.isSpecial else {
            root = node
            return faults.count(.restored)
        }
        // Its name and those above it are durable, too.
        place.directory.entries[place.name] = node
        flush(place.directory, in: Array(place.directories.dropLast()))
        place.directory.durableEntries[place.name] = node
        faults.count(.restored)
    }

    private static func copy(_ top: DiskNode) -> DiskNode {
        var copies: [ObjectIdentifier: DiskNode] = [:]
        var changes: [ObjectIdentifier: NameChange] = [:]
        func copy(_ node: DiskNode) -> DiskNode {
            if let copy = copies[ObjectIdentifier(node)] { return copy }
            let result = node.hollowCopy()
            copies[ObjectIdentifier(node)] = result
            result.entries = node.entries.mapValues(copy)
            result.durableEntries = node.durableEntries.mapValues(copy)
            result.pending = node.pending.compactMap { $0.isDurable ? nil : copy($0) }
            return result
        }
        func copy(_ change: NameChange) -> NameChange {
            if let copy = changes[ObjectIdentifier(change)] { return copy }
            // A half that lies outside of the copy stays behind.
            let result = NameChange(
                number: change.number, change.kind,
                change.parts.map {
                    NameChange.Part(
                        directory: $0.directory.map(copy), name: $0.name, node: $0.node.map(copy))
                })
            changes[ObjectIdentifier(change)] = result
            return result
        }
        return copy(top)
    }
}

extension SimulatedDisk {
    /// The death of a process that a fault plans; nil: it is no such fault.
    static func death(of fault: Fault) -> (count: Int, of: Call)? {
        guard let call = Call(fault.what) else { return nil }
        // What is given a name too early is seen between that and what should be before it.
        if fault.what == .name {
            return (max(1, fault.number / 2), fault.number % 2 == 0 ? .behindName : .name)
        }
        return (max(1, fault.number), call)
    }
}

extension SimulatedDisk.Call {
    /// The calls at one of which a fault kills; nil: it is no such fault.
    init?(_ what: Fault.What) {
        switch what {
        case .disk: self = .change
        case .line: self = .line
        case .name: self = .name
        default: return nil
        }
    }
}
