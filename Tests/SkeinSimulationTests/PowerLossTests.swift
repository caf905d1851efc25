import Foundation
import SkeinBasics
import Testing

@testable import SkeinSimulation

/// What a simulated disk has after a loss of power, and what its faults do to the real store.
@Suite("a simulated disk without power, and with faults")
struct PowerLossTests {
    private static let old = [UInt8](repeating: 1, count: 300)
    private static let new = [UInt8](repeating: 2, count: 500)

    @Test("what was written durably stays, beside what was not")
    func durable() throws {
        for seed in 1...100 as ClosedRange<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            let process = disk.opened()
            try process.store.makeDirectory("/run/a/b")
            try process.store.write(Self.old, to: "/run/a/b/file")
            try process.store.write(Self.new, to: "/run/a/b/file")
            let lines = try process.store.growingFile("/run/lines")
            try lines.append(Self.old)
            try lines.append(Self.new)
            let open = try process.open("/run/lines", O_WRONLY | O_APPEND, mode: 0).get("open", "")
            _ = try Self.old.withUnsafeBytes { try process.write(open, $0) }
            process.end()
            for _ in 0..<2 { disk.losePower() }
            #expect(disk["/run/a/b/file"] == Self.new)
            let found = try #require(disk["/run/lines"])
            let kept = Self.old + Self.new
            #expect(found.starts(with: kept))
            let rest = found[kept.count...]
            #expect(rest.count <= Self.old.count && rest.allSatisfy { $0 < 2 })
        }
    }

    @Test("wherever a process dies, and power is lost: the old file or the new one, whole")
    func atomic() throws {
        var found: Set<[UInt8]> = []
        var deaths = 0
        for count in 0... {
            var hasDied = false
            for seed in 1...20 as ClosedRange<UInt64> {
                let disk = SimulatedDisk(seed: seed)
                try disk.opened().store.makeDirectory("/run")
                try disk.opened().store.write(Self.old, to: "/run/file")
                hasDied = false
                let process = disk.opened(dyingAfter: (count, .any)) { hasDied = true }
                do {
                    try process.store.write(Self.new, to: "/run/file")
                } catch is ProcessDied {}
                if !hasDied { break }
                disk.losePower()
                let bytes = try #require(disk["/run/file"])
                #expect(bytes == Self.old || bytes == Self.new)
                found.insert(bytes)
                deaths += 1
            }
            if !hasDied { break }
        }
        #expect(found.count == 2 && deaths >= 160)
    }

    @Test("a name, a removal and bytes that were not flushed may be lost, and need not be")
    func lost() throws {
        var found: [String: Set<Int>] = [:]
        for seed in 1...100 as ClosedRange<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            let process = disk.opened()
            try process.store.makeDirectory("/run")
            try process.store.write(Self.old, to: "/run/removed")
            try process.store.write(Self.old, to: "/run/moved")
            try process.store.write(Self.old, to: "/run/later")
            _ = try process.unlink("/run/removed")
            _ = try process.rename("/run/moved", to: "/run/name")
            _ = try process.rename("/run/later", to: "/run/last")
            let file = try process.open("/run/made", O_RDWR | O_CREAT, mode: 0o644).get("open", "")
            _ = try Self.new.withUnsafeBytes { try process.writeAll(file, $0) }
            process.end()
            disk.losePower()
            for name in ["removed", "moved", "name", "later", "last", "made"] {
                found[name, default: []].insert(disk["/run/" + name]?.count ?? -1)
            }
            #expect((disk["/run/moved"] == nil) != (disk["/run/name"] == nil))
            #expect((disk["/run/later"] == nil) != (disk["/run/last"] == nil))
            // Renames in their order.
            #expect(disk["/run/last"] == nil || disk["/run/name"] != nil)
        }
        for name in ["removed", "moved", "name", "later", "last"] {
            #expect(found[name] == [-1, Self.old.count], "\(name)")
        }
        let sizes = try #require(found["made"])
        #expect(sizes.isSuperset(of: [-1, 0]) && sizes.count > 10)
    }

    @Test("a disk whose flushes lie loses what one that does not keeps")
    func lies() throws {
        var lost = 0
        for seed in 1...50 as ClosedRange<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            try disk.opened().store.makeDirectory("/run")
            disk.faults.liesAboutFlushes = true
            try disk.opened().store.write(Self.new, to: "/run/file")
            disk.losePower()
            if disk["/run/file"] != Self.new { lost += 1 }
        }
        #expect(lost > 10 && lost < 50, "\(lost)")
    }

    @Test("short writes and signals change nothing")
    func repeated() throws {
        let disk = SimulatedDisk(seed: 7)
        disk.faults.chances = [.shortWrite: 0.5, .shortRead: 0.5, .interruption: 0.3]
        let store = disk.opened().store
        try store.makeDirectory("/run")
        let lines = try store.growingFile("/run/lines")
        var all: [UInt8] = []
        for length in 1...100 {
            let bytes = [UInt8](repeating: UInt8(length), count: length)
            try store.write(bytes, to: "/run/file")
            try lines.append(bytes)
            all += bytes
            try lines.append(bytes)
            try lines.cut(to: all.count)
            let file = try store.file(copying: "/run/file", check: { _ in })
            #expect(file.withBytes { Array($0) } == bytes)
            let lock = try store.lock("/run/.lock")
            #expect(lock != nil)
            #expect(try store.names(in: "/run") == [".lock", "file", "lines"])
        }
        #expect(disk["/run/lines"] == all)
        try store.remove("/run")
        #expect(!store.exists("/run"))
        for kind in [DiskFaults.Kind.shortWrite, .shortRead, .interruption] {
            #expect(disk.faults.counts[kind, default: 0] > 50, "\(kind)")
        }
    }

    @Test("what fails says so, leaves the old file and no other, and works again later")
    func failing() throws {
        var codes: Set<Int32> = []
        var failures = 0
        for seed in 1...100 as ClosedRange<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            let store = disk.opened().store
            try store.makeDirectory("/run")
            try store.write(Self.old, to: "/run/file")
            var faults = DiskFaults()
            switch seed % 4 {
            case 0: faults.bytesLeft = Int(seed)
            case 1: faults.chances = [.noSpace: 0.4]
            case 2: faults.chances = [.writeError: 0.4]
            default: faults.chances = [.flushError: 0.4]
            }
            disk.faults = faults
            do {
                try store.write(Self.new, to: "/run/file")
                #expect(disk["/run/file"] == Self.new)
            } catch FileError.failed(let operation, _, let code) {
                failures += 1
                codes.insert(code)
                // The directory's flush comes after the renaming.
                #expect(
                    disk["/run/file"]
                        == (operation == "flush" && disk["/run/file"] == Self.new
                            ? Self.new : Self.old))
            }
            #expect(try store.names(in: "/run") == ["file"])
            disk.faults = DiskFaults()
            try store.write(Self.new, to: "/run/file")
            disk.losePower()
            #expect(disk["/run/file"] == Self.new)
        }
        #expect(codes == [ENOSPC, EIO] && failures > 50, "\(failures)")
    }

    @Test("after an fsync that failed, the next one keeps only what is written anew")
    func failedFlush() throws {
        let disk = SimulatedDisk(seed: 1)
        let store = disk.opened().store
        try store.makeDirectory("/run")
        let lines = try store.growingFile("/run/lines")
        try lines.append(Self.old)
        disk.faults.chances = [.flushError: 1]
        #expect(throws: FileError.failed(operation: "flush", path: "/run/lines", code: EIO)) {
            try lines.append(Self.new)
        }
        disk.faults.chances = [:]
        try lines.append(Self.old)
        #expect(disk["/run/lines"] == Self.old + Self.new + Self.old)
        disk.losePower()
        let zeros = [UInt8](repeating: 0, count: Self.new.count)
        #expect(disk["/run/lines"] == Self.old + zeros + Self.old)
    }

    @Test("a lock is one process's until that lets go, dies, or it is forgotten")
    func locks() throws {
        let disk = SimulatedDisk(seed: 3)
        let (first, second) = (disk.opened(), disk.opened())
        try first.store.makeDirectory("/run")
        var held = try first.store.lock("/run/.lock")
        #expect(held != nil)
        #expect(try first.store.lock("/run/.lock") == nil)
        #expect(try second.store.lock("/run/.lock") == nil)
        held = nil
        held = try second.store.lock("/run/.lock")
        #expect(held != nil)
        second.end()
        held = try first.store.lock("/run/.lock")
        #expect(held != nil)
        disk.loseLocks(of: "/run/.lock")
        let third = disk.opened()
        let other = try third.store.lock("/run/.lock")
        #expect(other != nil && disk.faults.counts[.lostLock] == 1)
        disk.faults.chances = [.sharedLock: 1]
        #expect(try third.store.lock("/run/.lock") == nil)
        #expect(try disk.opened().store.lock("/run/.lock") != nil)
        #expect(throws: ProcessDied.self) { try second.store.names(in: "/run") }
        withExtendedLifetime((held, other)) {}
    }

    @Test("a copy is put back as it was, more than once; a bit that rots is one bit")
    func copies() throws {
        let disk = SimulatedDisk(seed: 9)
        let store = disk.opened().store
        try store.makeDirectory("/run/deep")
        try store.write(Self.old, to: "/run/deep/file")
        let copy = try #require(disk.copied("/run"))
        for _ in 0..<2 {
            try store.write(Self.new, to: "/run/deep/file")
            try store.write(Self.new, to: "/run/other")
            disk.restore(copy)
            disk.losePower()
            #expect(disk["/run/deep/file"] == Self.old && disk["/run/other"] == nil)
        }
        #expect(disk.rot(below: "/run") == "/run/deep/file")
        let found = try #require(disk["/run/deep/file"])
        let bits = zip(found, Self.old).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
        #expect(bits == 1)
        disk.losePower()
        #expect(disk["/run/deep/file"] == found)
    }
}
