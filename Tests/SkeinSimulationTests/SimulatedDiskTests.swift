import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinSimulation

/// The same calls on the system's disk and on the simulated one.
@Suite("a simulated disk beside the system's")
struct SimulatedDiskTests {
    private typealias Calls = any FileCalls

    /// A disk with its own names of things that are the same on both.
    private final class Side {
        let calls: Calls
        let root: String
        var descriptors: [Int32] = []

        init(_ calls: Calls, root: String) {
            self.calls = calls
            self.root = root
        }

        deinit { for descriptor in descriptors { calls.close(descriptor) } }

        func path(_ path: String) -> String { root + path }

        func text<Value>(_ result: CallResult<Value>) -> String {
            switch result {
            case .failed(let code): "errno \(code)"
            case .done(let value): "\(value)"
            }
        }

        /// What can be seen of a status: sizes of directories and times differ.
        func text(_ result: CallResult<FileStatus>) -> String {
            guard case .done(let status) = result else { return "errno \(result.code ?? 0)" }
            let size = status.kind == .directory ? 0 : status.size
            return "\(status.kind) \(String(status.mode, radix: 8)) \(size)"
        }

        func text(_ result: CallResult<Int>, _ bytes: [UInt8]) -> String {
            guard case .done(let count) = result else { return text(result) }
            return "\(count) \(bytes[..<count])"
        }
    }

    private static let names = ["a", "b", "c", "d"]

    private static func path(_ random: inout SplitMix) -> String {
        var path = ""
        for _ in 0...Int.random(in: 0...2, using: &random) {
            path += "/" + names[Int.random(in: 0..<names.count, using: &random)]
        }
        if random.happens(0.03) { path += "/.." }
        if random.happens(0.03) { path += "/." }
        if random.happens(0.02) { path = "/." + path }
        return path
    }

    private static let flags: [Int32] = [
        O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_APPEND,
        O_WRONLY, O_WRONLY | O_CREAT | O_EXCL, O_RDONLY | O_NONBLOCK, O_RDONLY | O_DIRECTORY,
        O_RDWR | O_APPEND, O_RDWR | O_TRUNC,
    ]

    /// One operation, drawn by the generator, as text: what was done, and what came of it.
    private static func operate(_ side: Side, _ random: inout SplitMix) throws -> String {
        let calls = side.calls
        let path = Self.path(&random)
        let other = Self.path(&random)
        let choice = Int.random(in: 0..<26, using: &random)
        let index =
            side.descriptors.isEmpty
            ? 0 : Int.random(in: side.descriptors.indices, using: &random)
        let descriptor = side.descriptors.isEmpty ? -1 : side.descriptors[index]
        let number = Int.random(in: 0..<40, using: &random)
        let bytes = random.bytes(Int.random(in: 1..<30, using: &random))
        switch choice {
        case 0..<6:
            let flags = Self.flags[Int.random(in: 0..<Self.flags.count, using: &random)]
            let result = try calls.open(side.path(path), flags, mode: 0o644)
            if case .done(let descriptor) = result { side.descriptors.append(descriptor) }
            return "open \(path) \(flags): \(result.code ?? 0)"
        case 6:
            var buffer = [UInt8](repeating: 0, count: 1 + number)
            let result = try buffer.withUnsafeMutableBytes {
                try calls.read(descriptor, into: $0)
            }
            return "read \(index): \(side.text(result, buffer))"
        case 7:
            var buffer = [UInt8](repeating: 0, count: bytes.count)
            let result = try buffer.withUnsafeMutableBytes {
                try calls.read(descriptor, at: number - 1, into: $0)
            }
            return "pread \(index) \(number - 1): \(side.text(result, buffer))"
        case 8, 9, 10:
            let result = try bytes.withUnsafeBytes { try calls.write(descriptor, $0) }
            return "write \(index): \(side.text(result))"
        case 11:
            let result = try bytes.withUnsafeBytes {
                try calls.write(descriptor, at: number - 1, $0)
            }
            return "pwrite \(index) \(number - 1): \(side.text(result))"
        case 12:
            return "cut \(index) \(number - 1): "
                + side.text(try calls.cut(descriptor, to: number - 1))
        case 13: return "flush \(index): \(side.text(try calls.flush(descriptor)))"
        case 14:
            guard !side.descriptors.isEmpty else { return "" }
            calls.close(side.descriptors.remove(at: index))
            return "close \(index)"
        case 15:
            let result = try calls.duplicate(descriptor)
            if case .done(let descriptor) = result { side.descriptors.append(descriptor) }
            return "dup \(index): \(result.code ?? 0)"
        case 16:
            let kind = number % 2 == 0 ? LOCK_EX : LOCK_SH
            return "lock \(index) \(kind): \(side.text(try calls.lock(descriptor, kind | LOCK_NB)))"
        case 17:
            calls.unlock(descriptor)
            return "unlock \(index)"
        case 18: return "fstat \(index): \(side.text(try calls.status(descriptor)))"
        case 19:
            let status = side.text(try calls.status(of: side.path(path)))
            let target = side.text(try calls.target(ofLink: side.path(path)))
            return "stat \(path): \(status) \(target) \(calls.isThere(side.path(path)))"
        case 20:
            let result = try calls.names(in: side.path(path))
            guard case .done(let names) = result else {
                return "list \(path): \(side.text(result))"
            }
            return "list \(path): \(names.sorted())"
        case 21, 22:
            let result = try calls.rename(side.path(path), to: side.path(other))
            return "rename \(path) \(other): \(side.text(result))"
        case 23: return "unlink \(path): \(side.text(try calls.unlink(side.path(path))))"
        case 24:
            let result = try calls.makeDirectory(side.path(path), mode: 0o755)
            return "mkdir \(path): \(side.text(result))"
        default:
            if number < 4 {
                return "remove \(path): \(side.text(try calls.removeTree(side.path(path))))"
            }
            return "rmdir \(path): \(side.text(try calls.removeDirectory(side.path(path))))"
        }
    }

    @Test("whatever is called, both say the same, and the same errno")
    func calls() throws {
        var seen: [String: Int] = [:]
        for seed in 1...200 as ClosedRange<UInt64> {
            try TestPaths.withTemporaryDirectory { directory in
                let disk = SimulatedDisk(seed: seed)
                let process = disk.opened()
                try process.store.makeDirectory(directory)
                let sides = [
                    Side(SystemCalls(), root: directory), Side(process, root: directory),
                ]
                var log: [String] = []
                for step in 0..<150 {
                    let said = try sides.map { side in
                        var random = SplitMix(state: seed << 32 | UInt64(step))
                        return try Self.operate(side, &random)
                    }
                    log.append(said[0])
                    let call = said[0].prefix { $0 != " " }
                    let result = said[0].split(separator: ":").last ?? ""
                    seen["\(call)\(result.prefix(9))", default: 0] += 1
                    guard said[0] == said[1] else {
                        Issue.record(
                            "seed \(seed): \(said[1])\n\(log.suffix(30).joined(separator: "\n"))")
                        return
                    }
                }
            }
        }
        // Otherwise this would prove little.
        for what in [
            "rename errno \(ENOTEMPTY)", "rename errno \(EINVAL)",
            "rename errno \(EISDIR)", "rename errno \(ENOTDIR)", "rename ()", "rmdir ()",
            "rmdir errno \(ENOTEMPTY)", "lock errno \(EWOULDBLOCK)", "read errno \(EISDIR)",
            "remove ()", "unlink ()", "pwrite errno \(EBADF)", "cut errno \(EINVAL)",
        ] {
            #expect(seen.contains { $0.key.hasPrefix(what) }, "\(what)")
        }
    }

    @Test("what a store does leaves the same files on both, with the same names of errors")
    func stores() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let process = SimulatedDisk(seed: 1).opened()
            try process.store.makeDirectory(directory)
            for seed in 1...100 as ClosedRange<UInt64> {
                let said = [DiskStore(), process.store].map { store in
                    var random = SplitMix(state: seed)
                    return Self.use(store, directory, &random)
                }
                #expect(said[0] == said[1], "seed \(seed)")
            }
        }
    }

    private static func use(
        _ store: DiskStore, _ directory: String, _ random: inout SplitMix
    ) -> [String] {
        func text(_ body: () throws -> String) -> String {
            do { return try body() } catch { return "\(error)" }
        }
        return (0..<6).map { _ in
            let path = directory + Self.path(&random)
            let other = directory + Self.path(&random)
            let bytes = random.bytes(Int.random(in: 0..<50, using: &random))
            return text {
                switch Int.random(in: 0..<9, using: &random) {
                case 0, 1: try store.makeDirectory(path)
                case 2, 3: try store.write(bytes, to: path)
                case 4: try store.rename(path, to: other)
                case 5: if random.happens(0.3) { try store.remove(path) }
                case 6:
                    let file = try store.growingFile(path)
                    try file.append(bytes)
                    try file.cut(to: bytes.count / 2)
                case 7:
                    return
                        "\(try store.names(in: path)) \(String(describing: try store.kind(of: path)))"
                default:
                    let digest = try store.digest(of: path)
                    let copied = try store.file(copying: path, check: { _ in })
                    return "\(digest) \(copied.withBytes { Array($0) })"
                }
                return "done"
            }
        }
    }
}
