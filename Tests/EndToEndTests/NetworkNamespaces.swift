import Foundation
import Synchronization
import Testing

/// Hosts made of network namespaces: one in the middle, and a cable from it to each of the others.
///
/// The middle is 10.77.N.1 on its cable to host N, and that host is 10.77.N.2. Everything is inside
/// the namespaces, so the machine's own network is not touched.
struct NetworkNamespaces {
    struct Refused: Error { var words: [String], output: String }

    private let prefix: String
    private let count: Int

    /// Why there are none here, or nil: they need root, `ip`, and a kernel with veth.
    static let obstacle: String? = {
        do {
            try with(hosts: 1) { network in
                try ip(["netns", "exec", network.name(of: 1), "true"])
            }
            return nil
        } catch let refused as Refused {
            return refused.output
        } catch {
            return "\(error)"
        }
    }()

    /// Networks of this process so far: tests have some at the same time.
    private static let made = Atomic<Int>(0)

    /// Makes `count` hosts around the middle, and removes everything afterwards.
    static func with(hosts count: Int, _ body: (NetworkNamespaces) throws -> Void) throws {
        let number = made.add(1, ordering: .relaxed).newValue
        let network = NetworkNamespaces(
            prefix: "skein-\(ProcessInfo.processInfo.processIdentifier)-\(number)", count: count)
        defer { network.remove() }
        try network.make()
        try body(network)
    }

    private func make() throws {
        for number in 0...count {
            try Self.ip(["netns", "add", name(of: number)])
            try Self.ip(["-n", name(of: number), "link", "set", "lo", "up"])
        }
        let middle = name(of: 0)
        for number in 1...count {
            let host = name(of: number)
            try Self.ip([
                "-n", middle, "link", "add", "cable\(number)", "type", "veth", "peer", "name",
                "cable", "netns", host,
            ])
            for (place, device, address) in [
                (middle, "cable\(number)", "10.77.\(number).1/24"),
                (host, "cable", "10.77.\(number).2/24"),
            ] {
                try Self.ip(["-n", place, "address", "add", address, "dev", device])
                try Self.ip(["-n", place, "link", "set", "dev", device, "up"])
            }
        }
    }

    /// Cables go with the namespaces at their ends.
    private func remove() {
        for number in 0...count {
            // One that was never made cannot be removed; the next run would notice leftovers.
            _ = try? Self.ip(["netns", "delete", name(of: number)])
        }
    }

    /// The namespace of a host; 0 is the middle.
    func name(of host: Int) -> String { "\(prefix)-\(host)" }

    /// The middle's address as a host sees it.
    func middle(from host: Int) -> String { "10.77.\(host).1" }

    /// A line of `sh` that starts "$@" on a host, in the same process.
    func shell(on host: Int) -> String { "exec ip netns exec \(name(of: host)) \"$@\"" }

    /// Pulls a host's cable, or puts it back.
    func setCable(of host: Int, isUp: Bool) throws {
        try Self.ip(["-n", name(of: host), "link", "set", "dev", "cable", isUp ? "up" : "down"])
    }

    private static func ip(_ words: [String]) throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ip"] + words
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        let output = String(decoding: bytes, as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Refused(
                words: words,
                output: output.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
