import Foundation
import SkeinBasics

/// A file that grows piece by piece, over as many attempts as it takes.
final class PartialFile {
    let path: String
    private(set) var count: UInt64
    private let calls: any FileCalls
    private let descriptor: Int32

    private init(path: String, count: UInt64, _ calls: any FileCalls, _ descriptor: Int32) {
        self.path = path
        self.count = count
        self.calls = calls
        self.descriptor = descriptor
    }

    /// Opens or creates the file; one that is longer than `limit` is emptied.
    convenience init(
        path: String, limit: UInt64, in calls: any FileCalls = SystemCalls()
    ) throws {
        let descriptor = try calls.openWholly(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
            .get("create", path)
        // From here on it is closed with the object, also when this throws.
        self.init(path: path, count: 0, calls, descriptor)
        count = UInt64(try calls.status(descriptor).get("read the size of", path).size)
        if count > limit {
            try calls.cutWholly(descriptor, to: 0).get("cut", path)
            count = 0
        }
    }

    /// Creates an empty file `PATH.PROCESS-NUMBER.part` that no other process writes. It is locked, so
    /// that `removeLeftovers` of others leaves it alone as long as this process lives.
    convenience init(ownBeside path: String, in calls: any FileCalls = SystemCalls()) throws {
        var number = 0
        while true {
            let own = "\(path).\(calls.mark)-\(String(number, radix: 16)).part"
            number += 1
            let opened = try calls.openWholly(
                own, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, mode: 0o644)
            // Another thread of this process may have one.
            if opened.code == EEXIST { continue }
            let file = try opened.get("create", own)
            // Another process may take it for a leftover before it is locked; then another is made.
            let lock = try calls.lockWholly(file, LOCK_EX | LOCK_NB)
            if lock.code == nil, calls.isThere(own) {
                self.init(path: own, count: 0, calls, file)
                return
            }
            _ = try calls.unlink(own)
            calls.close(file)
            if lock.code != EWOULDBLOCK { try lock.get("lock", own) }
        }
    }

    /// Removes what processes that are gone have left of files of their own for `path`.
    static func removeLeftovers(
        beside path: String, in calls: any FileCalls = SystemCalls()
    ) throws {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.dropLast().joined(separator: "/")
        let prefix = (parts.last.map(String.init) ?? "") + "."
        // What is left lies there until another start; the download itself tells of the folder.
        guard case .done(let names) = try calls.listWholly(directory) else { return }
        for name in names where name.hasPrefix(prefix) && name.hasSuffix(".part") {
            let middle = name.dropFirst(prefix.count).dropLast(".part".count)
            guard middle.wholeMatch(of: /[0-9]+-[0-9a-f]+/) != nil else { continue }
            guard
                case .done(let descriptor) = try calls.openWholly(
                    directory + "/" + name, O_RDWR)
            else { continue }
            defer { calls.close(descriptor) }
            // Its maker would have locked it.
            if try calls.lockWholly(descriptor, LOCK_EX | LOCK_NB).code == nil {
                _ = try calls.unlink(directory + "/" + name)
            }
        }
    }

    deinit { calls.close(descriptor) }

    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try calls.writeAll(descriptor, $0) }.get("write", path)
        count += UInt64(bytes.count)
    }

    func finish() throws { try calls.flushWholly(descriptor).get("flush", path) }
}
