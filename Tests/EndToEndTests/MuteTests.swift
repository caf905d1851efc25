import Foundation
import SkeinBench
import SkeinCoordination
import SkeinTestSupport
import Testing

@testable import SkeinNodes

/// Peers that know the token, ask for much and never read.
@Suite("peers that never read", .ownThreads)
struct MuteTests {
    /// Bytes of memory that a process uses besides mapped files.
    private func anonymousBytes(_ process: SkeinProcess) throws -> Int {
        let data = FileManager.default.contents(atPath: "/proc/\(process.identifier)/status")
        let text = String(decoding: data ?? Data(), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        let words = try #require(line, "no RssAnon").split(separator: " ")
        return try #require(Int(words[1])) * 1024
    }

    /// What the coordinator's log promises for what waits for workers.
    private func promised(_ cluster: ClusterHarness) throws -> Int {
        let text = cluster.coordinator.errorText
        let end = try #require(text.range(of: " MB for what waits for workers"), "\(text)")
        let words = text[..<end.lowerBound].split(separator: " ")
        return try #require(words.last.flatMap { Int($0) }) * 1_000_000
    }

    @Test("100 workers that ask for the model and never read cost what was promised")
    func fetching() throws {
        ProcessFigures.raiseFileLimit()
        // 130 MB: nobody needs to share a piece with anybody.
        var model = TinyModel()
        model.width = 1024
        model.feedForwardWidth = 4096
        model.layerCount = 2
        try Workbench.with(rows: 4, model: model) { bench in
            let cluster = try ClusterHarness(
                bench, "run", ["--epochs", "1"])
            let idle = try anonymousBytes(cluster.coordinator)
            let pieces = try bench.bytes(bench.model).count / Limits.modelChunkBytes
            #expect(pieces > 100)
            let mutes = try (0..<100).map { number in
                let peer = try HostilePeer(cluster.address, name: "mute-\(number)")
                try peer.authenticate()
                for place in 0..<8 {
                    let offset = (8 * number + place) % pieces * Limits.modelChunkBytes
                    peer.say(.modelRequest(ModelRequest(file: 0, offset: UInt64(offset))))
                }
                return peer
            }
            var most = 0
            func beat(for seconds: Double) throws {
                let end = ContinuousClock.now + .seconds(seconds)
                while ContinuousClock.now < end {
                    for peer in mutes { peer.say(.heartbeat(Heartbeat())) }
                    most = max(most, try anonymousBytes(cluster.coordinator) - idle)
                    Thread.sleep(forTimeInterval: 0.2)
                }
            }
            try beat(for: 5)
            let limit = try promised(cluster)
            print("mute: 100 cost \(most >> 20) MiB, promised \(limit >> 20) MiB")
            #expect(most > 32 << 20, "they hold pieces")
            #expect(most < limit, "\(most) bytes, promised \(limit)")

            // The line is full. Whoever waits is served once the first have stood still for 10 s.
            let worker = try cluster.startWorker(
                "fetches", model: nil,
                shell: "SKEIN_CACHE='\(bench.path("cache"))' exec \"$@\"")
            let end = ContinuousClock.now + .seconds(SkeinProcess.patience)
            while !worker.errorText.contains("joined the run"), ContinuousClock.now < end {
                try beat(for: 0.5)
            }
            #expect(cluster.coordinator.errorText.contains("it has taken nothing of the model for"))
            #expect(most < limit, "\(most) bytes, promised \(limit)")
            try cluster.finish()
            print("mute: at most \(most >> 20) MiB")
        }
    }
}
