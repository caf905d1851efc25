import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinLab
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinCluster

/// Peers that have not proved the token: each costs at most 64 KiB and 5 s, and they keep no worker
/// out.
@Suite("strangers", .ownThreads)
struct StrangerTests {
    /// How many sockets a process has.
    private func sockets(_ process: SkeinProcess) throws -> Int {
        let directory = "/proc/\(process.identifier)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: directory).count { name in
            // It may be closed meanwhile.
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: directory + "/" + name)
            return target?.hasPrefix("socket:") ?? false
        }
    }

    @Test("500 connections that never speak, or never finish, cost little and keep no worker out")
    func crowd() throws {
        ProcessFigures.raiseFileLimit()
        try FaultBench.withCluster { cluster in
            let process = cluster.coordinator
            let idle = try (sockets(process), FaultBench.residentBytes(process))
            let strangers = try (0..<500).map { number in
                let peer = try HostilePeer(cluster.address)
                // All but the last byte of the longest possible first frame.
                if number % 2 == 0 {
                    let whole = peer.frame(1, [UInt8](repeating: 0, count: 1024), count: 1024)
                    peer.send(Array(whole.dropLast()))
                }
                return peer
            }
            // Where it takes 5 s to make them all, some of them are gone already.
            try FaultBench.wait(for: "the crowd") {
                try sockets(process) - idle.0 >= 400
            }
            let growth = try FaultBench.residentBytes(process) - idle.1
            print("strangers: 500 connections cost \(growth >> 10) KiB")
            #expect(growth < 32 << 20, "\(growth) bytes")

            try cluster.startWorker("healthy")
            try cluster.waitForSteps(FaultBench.steps / 2)
            try FaultBench.finish(cluster, worker: nil)
            withExtendedLifetime(strangers) {}
        }
    }

    @Test("a host that opens connections without end does not keep a distant worker out")
    func flood() throws {
        ProcessFigures.raiseFileLimit()
        try FaultBench.withCluster { cluster in
            let isOver = Mutex(false)
            let opened = Mutex(0)
            let done = Promise<(any Error)?>()
            let address = cluster.address
            let began = ContinuousClock.now
            Thread {
                var crowd: [Int32] = []
                defer { for descriptor in crowd { close(descriptor) } }
                do {
                    while !isOver.withLock({ $0 }) {
                        // They never speak, and none is closed before 600 others have come.
                        crowd.append(try HostilePeer.dial(address, from: "127.0.0.2"))
                        if crowd.count > 600 { close(crowd.removeFirst()) }
                        opened.withLock { $0 += 1 }
                    }
                    done.keep(nil)
                } catch {
                    done.keep(error)
                }
            }.start()
            try FaultBench.wait(for: "the flood") { opened.withLock { $0 } > 1000 }
            let line = try SlowLine(to: cluster.address, seconds: 0, delay: 0.1)
            defer { line.stop() }
            let worker = try cluster.startWorker("far", model: cluster.work.model, at: line.address)
            try worker.waitForError("joined the run")
            isOver.withLock { $0 = true }
            let ended = try #require(done.value(within: SkeinProcess.patience))
            if let ended { throw ended }
            print("strangers: \(opened.withLock { $0 }) connections of one host")
            #expect(!worker.errorText.contains("tries again"), "\(worker.errorText)")
            try cluster.coordinator.waitForError("which was dropped for others")
            let text = cluster.coordinator.errorText
            #expect(text.contains("from where 127.0.0.2:"), "\(text)")
            let lines = text.split(separator: "\n").count { $0.contains("dropped for others") }
            #expect(lines <= 1 + Int((ContinuousClock.now - began) / .seconds(60)), "\(text)")
            try cluster.finish()
            try FaultBench.verify(cluster.bench, "run")
        }
    }

    @Test("of many refused strangers only a few have a line in the log")
    func lines() throws {
        try FaultBench.withCluster { cluster in
            let began = ContinuousClock.now
            let count = 200
            for _ in 0..<count {
                // Minor versions that no build speaks: it is refused for its HELLO.
                let peer = try HostilePeer(cluster.address, minor: 200...201)
                peer.say(peer.greeting)
                #expect(try peer.rejection()?.code == .version)
            }
            try FaultBench.finish(cluster)
            let minutes = Int((ContinuousClock.now - began) / .seconds(60)) + 1
            let text = cluster.coordinator.errorText
            let lines = text.split(separator: "\n").count { $0.contains("is refused (version)") }
            #expect((20...(20 + minutes)).contains(lines), "\(text)")
        }
    }

    @Test("a peer has 5 s to say who it is, however slowly it speaks")
    func slow() throws {
        try FaultBench.withCluster { cluster in
            let idle = try sockets(cluster.coordinator)
            let began = ContinuousClock.now
            let silent = try HostilePeer(cluster.address)
            let loris = try HostilePeer(cluster.address)
            let bytes = loris.frame(loris.greeting)
            let half = try HostilePeer(cluster.address)
            half.say(half.greeting)
            let lazy = try HostilePeer(cluster.address, role: .observer)
            try lazy.authenticate()
            var ends: [String: Duration] = [:]
            var next = 0
            while ends.count < 4, ContinuousClock.now - began < .seconds(120) {
                if next < bytes.count {
                    loris.send([bytes[next]])
                    next += 1
                }
                for (name, peer) in [
                    ("silent", silent), ("loris", loris), ("half", half), ("lazy", lazy),
                ] where ends[name] == nil {
                    // Reads at most for a tenth of a second.
                    switch try peer.hear(seconds: 0) {
                    case .message(.challenge), .silence: continue
                    case .message(.rejection(let rejection)):
                        #expect(rejection.code == .timeout, "\(name): \(rejection)")
                        #expect(rejection.reason.contains("5 s"), "\(name): \(rejection)")
                    case .message(let message): Issue.record("\(name): \(message)")
                    case .closed: Issue.record("\(name) was closed without a word")
                    }
                    ends[name] = ContinuousClock.now - began
                }
            }
            #expect(ends.count == 4, "\(ends)")
            for (name, time) in ends {
                #expect(time > .seconds(4), "\(name): \(time)")
            }
            print("strangers: told after \(ends.values.map { "\($0)" }.sorted())")
            // Though they never closed their side, none of their connections is left.
            try FaultBench.wait(for: "the end of their connections") {
                try sockets(cluster.coordinator) <= idle
            }
            print("strangers: gone after \(ContinuousClock.now - began)")
            for peer in [silent, loris, half, lazy] { #expect(try peer.hear() == .closed) }
            try FaultBench.finish(cluster)
        }
    }

    @Test("an observer that asks for anything but the status is refused")
    func observer() throws {
        try FaultBench.withCluster { cluster in
            let curious = try HostilePeer(cluster.address, role: .observer)
            try curious.ready()
            #expect(try curious.offer.configuration.isEmpty)
            #expect(try curious.offer.modelFiles.isEmpty)
            #expect(try curious.rejection()?.code == .protocolViolation)
            let honest = try HostilePeer(cluster.address, role: .observer)
            try honest.authenticate()
            honest.say(.statusRequest)
            let json = try honest.wait { message in
                if case .status(let report) = message { report.json } else { nil }
            }
            let text = String(decoding: try #require(json), as: UTF8.self)
            #expect(try Workbench.object(text)["why"] is String)
            try FaultBench.finish(cluster)
        }
    }
}
