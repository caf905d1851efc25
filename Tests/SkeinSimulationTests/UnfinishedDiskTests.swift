import SkeinBasics
import Testing

@testable import SkeinSimulation

/// The next writer after one that was killed, on a simulated disk.
@Suite("what a simulated process that died had not finished")
struct UnfinishedDiskTests {
    private static let bytes = [UInt8](repeating: 1, count: 100)

    private func fill(_ key: String, _ process: SimulatedProcess) throws {
        let folder = CacheFolder("/cache", suffix: ".tokens", calls: process)
        try folder.write(SHA256.digest(of: key)) { output in
            try Self.bytes.withUnsafeBytes { try output.append($0) }
        }
    }

    private func unfinished(_ disk: SimulatedDisk, in directory: String) throws -> [String] {
        try disk.opened().store.names(in: directory).filter { Unfinished.isName($0) }
    }

    @Test(
        "wherever it dies, the next writer of the cache removes it",
        arguments: [false, true])
    func cache(losesPower: Bool) throws {
        var leftovers = 0
        for seed in 1...10 as ClosedRange<UInt64> {
            for count in 0... {
                let disk = SimulatedDisk(seed: seed)
                var hasDied = false
                let process = disk.opened(dyingAfter: (count, .any)) { hasDied = true }
                do {
                    try fill("1", process)
                } catch is ProcessDied {}
                guard hasDied else { break }
                if losesPower { disk.losePower() }
                leftovers += try unfinished(disk, in: "/cache").count
                try fill("2", disk.opened())
                #expect(try unfinished(disk, in: "/cache") == [], "seed \(seed), call \(count)")
            }
        }
        // After a loss of power not even the name need be there.
        #expect(leftovers > (losesPower ? 0 : 40), "\(leftovers)")
    }

    private func make(_ process: SimulatedProcess) throws {
        try Unfinished.make("/out/model", isFolder: true, in: process) { unfinished in
            for name in ["one", "two"] {
                try AtomicFile.write(
                    Self.bytes, to: unfinished + "/" + name, in: process)
            }
        }
    }

    @Test("wherever the maker of a folder dies, it is there whole, or the next one makes it")
    func folder() throws {
        var made = 0
        var leftovers = 0
        for count in 0... {
            let disk = SimulatedDisk(seed: UInt64(count))
            try disk.opened().store.makeDirectory("/out")
            var hasDied = false
            let process = disk.opened(dyingAfter: (count, .any)) { hasDied = true }
            do {
                try make(process)
            } catch is ProcessDied {}
            leftovers += try unfinished(disk, in: "/out").count
            let next = disk.opened()
            if try next.store.names(in: "/out").contains("model") {
                made += 1
            } else {
                try make(next)
            }
            #expect(try next.store.names(in: "/out") == ["model"], "call \(count)")
            #expect(try next.store.names(in: "/out/model") == ["one", "two"], "call \(count)")
            for name in ["one", "two"] { #expect(disk["/out/model/" + name] == Self.bytes) }
            guard hasDied else { break }
        }
        #expect(made > 1 && leftovers > 15, "\(made), \(leftovers)")
    }

    @Test("an error of the disk leaves nothing of a folder")
    func failing() throws {
        var failures = 0
        for seed in 1...50 as ClosedRange<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            let process = disk.opened()
            try process.store.makeDirectory("/out")
            disk.faults.chances = [.noSpace: 0.1, .writeError: 0.1, .interruption: 0.1]
            do {
                try make(process)
            } catch FileError.failed {
                failures += 1
                disk.faults = DiskFaults()
                #expect(try process.store.names(in: "/out") == [])
                try make(process)
            }
            disk.faults = DiskFaults()
            #expect(try process.store.names(in: "/out") == ["model"])
        }
        #expect(failures > 10 && failures < 50, "\(failures)")
    }

    @Test("what a living process is making stays; once it has died, it goes")
    func held() throws {
        let disk = SimulatedDisk(seed: 1)
        let (first, second) = (disk.opened(), disk.opened())
        try AtomicFile.makeDirectory("/cache", in: first)
        try AtomicFile.write(to: "/cache/a", in: first) { output in
            try AtomicFile.write("second", to: "/cache/a", in: second)
            try Unfinished.removeAbandoned(beside: "/cache/a", in: second)
            #expect(try unfinished(disk, in: "/cache").count == 1)
            try Self.bytes.withUnsafeBytes { try output.append($0) }
        }
        #expect(disk["/cache/a"] == Self.bytes)
        #expect(throws: ProcessDied.self) {
            try AtomicFile.write(to: "/cache/a", in: first) { _ in first.end() }
        }
        #expect(try unfinished(disk, in: "/cache").count == 1)
        try Unfinished.removeAbandoned(beside: "/cache/a", in: second)
        #expect(try second.store.names(in: "/cache") == ["a"])
        #expect(disk["/cache/a"] == Self.bytes)
    }
}
