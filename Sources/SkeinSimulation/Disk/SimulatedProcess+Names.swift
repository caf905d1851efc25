import Foundation
import SkeinBasics

extension SimulatedProcess {
    // MARK: What is at a path

    package func status(_ descriptor: Int32) throws -> CallResult<FileStatus> {
        try begin()
        return files[descriptor].map { .done(status($0.node)) } ?? .failed(EBADF)
    }

    package func status(of path: String) throws -> CallResult<FileStatus> {
        try begin()
        switch disk.place(path) {
        case .failed(let code): return .failed(code)
        case .done(let place):
            return place.node.map { .done(status($0)) } ?? .failed(ENOENT)
        }
    }

    private func status(_ node: DiskNode) -> FileStatus {
        FileStatus(
            kind: node.isDirectory ? .directory : .regular, mode: node.mode & 0o7777,
            owner: Self.owner, size: node.bytes.count, modified: node.modified,
            identity: FileStatus.Identity(device: 0, number: UInt64(node.number)))
    }

    /// There are no links.
    package func linkStatus(of path: String) throws -> CallResult<FileStatus> {
        try status(of: path)
    }

    package func isThere(_ path: String) -> Bool { disk.node(at: path) != nil }

    package func target(ofLink path: String) throws -> CallResult<String> {
        let status = try status(of: path)
        return .failed(status.code ?? EINVAL)
    }

    package func names(in path: String) throws -> CallResult<[String]> {
        try begin()
        switch disk.place(path) {
        case .failed(let code): return .failed(code)
        case .done(let place):
            guard let node = place.node else { return .failed(ENOENT) }
            guard node.isDirectory else { return .failed(ENOTDIR) }
            if happens(.interruption) { return .failed(EINTR) }
            if happens(.readError) { return .failed(EIO) }
            return .done(node.entries.keys.sorted())
        }
    }

    // MARK: Names

    package func rename(_ old: String, to new: String) throws -> CallResult<Void> {
        try begin(.name)
        switch (disk.place(old), disk.place(new)) {
        case (.failed(let code), _), (_, .failed(let code)): return .failed(code)
        case (.done(let from), .done(let to)):
            if from.isSpecial || to.isSpecial { return .failed(EBUSY) }
            if let code = obstacle(from, to) { return .failed(code) }
            guard let node = from.node, node !== to.node else { return .done }
            guard room(for: 0) != nil else { return .failed(ENOSPC) }
            if node.isDirectory { disk.forgetPlaces() }
            disk.change(
                .renaming,
                [(from.directory, from.name, nil), (to.directory, to.name, node)])
            return .done
        }
    }

    /// Why a file cannot have a name, in the order in which Linux looks at it; nil: it can.
    private func obstacle(_ from: SimulatedDisk.Place, _ to: SimulatedDisk.Place) -> Int32? {
        guard let node = from.node else { return ENOENT }
        if !node.isDirectory, to.isWithin { return ENOTDIR }
        if to.directories.contains(where: { $0 === node }) { return EINVAL }
        guard let other = to.node, other !== node else { return nil }
        if from.directories.contains(where: { $0 === other }) { return ENOTEMPTY }
        if node.isDirectory != other.isDirectory { return node.isDirectory ? ENOTDIR : EISDIR }
        return other.entries.isEmpty ? nil : ENOTEMPTY
    }

    package func unlink(_ path: String) throws -> CallResult<Void> {
        try begin(.name)
        switch disk.place(path) {
        case .failed(let code): return .failed(code)
        case .done(let place):
            guard let node = place.node else { return .failed(ENOENT) }
            if node.isDirectory { return .failed(EISDIR) }
            disk.change(.removal, [(place.directory, place.name, nil)])
            return .done
        }
    }

    package func makeDirectory(_ path: String, mode: mode_t) throws -> CallResult<Void> {
        try begin(.change)
        switch disk.place(path) {
        case .failed(let code): return .failed(code)
        case .done(let place):
            if place.node != nil { return .failed(EEXIST) }
            guard room(for: 0) != nil else { return .failed(ENOSPC) }
            let node = disk.newNode(isDirectory: true, mode: mode)
            disk.change(.making, [(place.directory, place.name, node)])
            return .done
        }
    }

    package func removeDirectory(_ path: String) throws -> CallResult<Void> {
        try begin(.name)
        switch disk.place(path) {
        case .failed(let code): return .failed(code)
        case .done(let place):
            guard let node = place.node else { return .failed(ENOENT) }
            guard node.isDirectory else { return .failed(ENOTDIR) }
            switch place.name {
            case "": return .failed(EBUSY)
            case ".": return .failed(EINVAL)
            case "..": return .failed(ENOTEMPTY)
            default: break
            }
            guard node.entries.isEmpty else { return .failed(ENOTEMPTY) }
            disk.forgetPlaces()
            disk.change(.removal, [(place.directory, place.name, nil)])
            return .done
        }
    }

    // MARK: What is not drawn

    /// Who may use it, at once durable.
    package func setMode(_ descriptor: Int32, _ mode: mode_t) throws -> CallResult<Void> {
        try begin(.change)
        guard let file = files[descriptor] else { return .failed(EBADF) }
        file.node.mode = mode
        return .done
    }

    package func setMode(of path: String, _ mode: mode_t) throws -> CallResult<Void> {
        try begin(.change)
        switch disk.place(path) {
        case .failed(let code): return .failed(code)
        case .done(let place):
            guard let node = place.node else { return .failed(ENOENT) }
            node.mode = mode
            return .done
        }
    }

    package func touch(_ descriptor: Int32) { files[descriptor]?.node.modified = disk.time() }

    package func touch(_ path: String) {
        if !isDead { disk.node(at: path)?.modified = disk.time() }
    }

    package func freeBytes(_ descriptor: Int32) throws -> CallResult<Int?> {
        try begin()
        guard files[descriptor] != nil else { return .failed(EBADF) }
        return .done(disk.tellsRoom ? disk.faults.bytesLeft ?? 1 << 40 : 1 << 40)
    }

    /// Unless it blocks, nothing else happens meanwhile.
    package func pause(microseconds: UInt32) { blocks?(.pause(.microseconds(Int(microseconds)))) }

    /// There is one thread, which may be that of another process in the middle of a call.
    package func inTurn(_ body: () throws -> Void) rethrows { try body() }
}
