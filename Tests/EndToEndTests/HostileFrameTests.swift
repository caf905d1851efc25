import SkeinCoordination
import SkeinLab
import SkeinTestSupport
import Testing

/// Peers that break the protocol below the messages, or lie in the handshake: each is rejected with
/// the reason, and a healthy worker finishes the run as if they had never come.
@Suite("hostile frames", .ownThreads)
struct HostileFrameTests {
    private static let token = "a token of 25 characters."
    private static let tokenBytes = Array(token.utf8)

    /// A lie, and the answer that it must get.
    private struct Lie {
        let name: String
        let code: RejectCode
        /// A part of the reason.
        let mention: String
        let tell: (HostilePeer) throws -> Void
    }

    private func check(_ lies: [Lie], at cluster: ClusterHarness) throws {
        for (number, lie) in lies.enumerated() {
            // A name that is lost repeatedly has to pause.
            let peer = try HostilePeer(
                cluster.address, name: "liar-\(number)", token: Self.tokenBytes)
            try lie.tell(peer)
            let rejection = try peer.rejection()
            #expect(rejection?.code == lie.code, "\(lie.name): \(rejection as Any)")
            #expect(rejection?.reason.contains(lie.mention) == true, "\(lie.name)")
            #expect(try peer.hear() == .closed, "\(lie.name)")
            #expect(cluster.coordinator.isRunning, "\(lie.name)")
        }
    }

    private func withCluster(_ body: (ClusterHarness) throws -> Void) throws {
        try Workbench.with { bench in
            let file = try FaultBench.token(bench, text: Self.token)
            let cluster = try ClusterHarness(
                bench, "run", FaultBench.run + ["--token-file", file])
            try body(cluster)
            try FaultBench.finish(cluster, ["--token-file", file])
        }
    }

    @Test("of strangers")
    func strangers() throws {
        let violation = RejectCode.protocolViolation
        try withCluster { cluster in
            try check(
                [
                    Lie(name: "HTTP", code: violation, mention: "a Skein frame") {
                        $0.send(Array("GET / HTTP/1.1\r\nHost: goose\r\n\r\n".utf8))
                    },
                    Lie(name: "noise", code: violation, mention: "a Skein frame") {
                        $0.send((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })
                    },
                    Lie(name: "a major version", code: .version, mention: "version 3") { peer in
                        var bytes = peer.frame(peer.greeting)
                        bytes[4] = 3
                        peer.send(bytes)
                    },
                    Lie(name: "damaged header", code: violation, mention: "header was damaged") {
                        peer in
                        var bytes = peer.frame(peer.greeting)
                        bytes[20] ^= 1
                        peer.send(bytes)
                    },
                    Lie(name: "damaged payload", code: violation, mention: "frame 0 was damaged") {
                        peer in
                        var bytes = peer.frame(peer.greeting)
                        bytes[bytes.count - 1] ^= 1
                        peer.send(bytes)
                    },
                    Lie(name: "long frame", code: violation, mention: "limit of 1024") {
                        $0.send(
                            Array(
                                $0.frame(1, [UInt8](repeating: 0, count: 1 << 20), count: 1 << 20)
                                    .prefix(40)))
                    },
                    Lie(name: "long message", code: violation, mention: "announces a HELLO") {
                        $0.send($0.frame(1, [1], count: Int(UInt32.max), flags: .more))
                    },
                    Lie(name: "another beginning", code: violation, mention: "HEARTBEAT") {
                        $0.say(.heartbeat(Heartbeat()))
                    },
                    Lie(name: "a result at once", code: violation, mention: "RESULT") {
                        $0.send($0.frame(15, [UInt8](repeating: 7, count: 500), count: 500))
                    },
                    Lie(name: "unknown type", code: violation, mention: "unknown type 4711") {
                        $0.send($0.frame(4711, [], count: 0, flags: .optional))
                    },
                    Lie(name: "half a HELLO", code: violation, mention: "HELLO") {
                        let half = Array($0.greeting.encoded().prefix(20))
                        $0.send($0.frame(1, half, count: half.count))
                    },
                    Lie(name: "a frame twice", code: violation, mention: "instead of") {
                        let bytes = $0.frame($0.greeting)
                        $0.send(bytes + bytes)
                    },
                ], at: cluster)

            // A range of minor versions, none of which this build speaks.
            let later = try HostilePeer(cluster.address, minor: 7...9)
            later.say(later.greeting)
            let version = try later.rejection()
            #expect(version?.code == .version)
            #expect(version?.reason.contains("2.7 to 2.9") == true, "\(version as Any)")

            // A peer with the previous major version is told in a frame of that version.
            let old = try HostilePeer(cluster.address)
            var greeting = old.frame(old.greeting)
            greeting[4] = 1
            old.send(greeting)
            #expect(throws: WireError.majorVersion(found: 1)) { try old.hear() }

            // Truncated, then gone: there is no peer to be told.
            for count in [0, 1, 39, 40, 60] {
                let peer = try HostilePeer(cluster.address)
                peer.send(Array(peer.frame(peer.greeting).prefix(count)))
                peer.hangUp()
            }
        }
    }

    @Test("of peers without the token, with a wrong one, or with a recording")
    func tokens() throws {
        try withCluster { cluster in
            for token in [[], Array("a token of 25 characters,".utf8), Self.tokenBytes + [10]] {
                let peer = try HostilePeer(cluster.address, token: token)
                try peer.prove()
                let rejection = try peer.rejection()
                #expect(rejection?.code == .authentication, "\(rejection as Any)")
                #expect(try peer.hear() == .closed)
            }
            // A recorded proof is useless on another connection.
            let honest = try HostilePeer(cluster.address, token: Self.tokenBytes)
            let recording = try honest.prove()
            let echo = try HostilePeer(cluster.address, token: [])
            try echo.prove(sending: recording)
            #expect(try echo.rejection()?.code == .authentication)
            // The log is written by another thread than the rejection.
            let line = "refused (authentication)"
            try cluster.coordinator.waitForError(line)
            #expect(cluster.coordinator.errorText.contains(line))
        }
    }

    @Test("of peers that know the token")
    func acquaintances() throws {
        let violation = RejectCode.protocolViolation
        let beat = Message.heartbeat(Heartbeat())
        try withCluster { cluster in
            try check(
                [
                    Lie(name: "replayed", code: violation, mention: "instead of frame") {
                        try $0.join()
                        let bytes = $0.frame(beat)
                        $0.send(bytes + bytes)
                    },
                    Lie(name: "reordered", code: violation, mention: "frame 4 came instead") {
                        try $0.join()
                        let first = $0.frame(beat)
                        $0.send($0.frame(beat) + first)
                    },
                    Lie(name: "changed", code: violation, mention: "session's key") {
                        try $0.join()
                        var bytes = $0.frame(beat)
                        bytes[bytes.count - 1] ^= 1
                        $0.send(bytes)
                    },
                    Lie(name: "without a tag", code: violation, mention: "session's key") {
                        try $0.join()
                        let bytes = $0.frame(beat)
                        $0.send(Array(bytes.dropLast(16)) + [UInt8](repeating: 1, count: 200))
                    },
                    Lie(name: "long result", code: violation, mention: "announces a RESULT") {
                        try $0.join()
                        $0.send($0.frame(15, [1, 2, 3], count: 1 << 31, flags: .more))
                    },
                    Lie(name: "long heartbeat", code: violation, mention: "above the limit") {
                        try $0.join()
                        let count: [UInt8] = [255, 255, 255, 255]
                        let bytes = [UInt8](repeating: 0, count: 16) + count
                        $0.send($0.frame(10, bytes, count: bytes.count))
                    },
                    Lie(name: "short result", code: violation, mention: "RESULT") {
                        try $0.join()
                        $0.send($0.frame(15, [1, 2, 3], count: 3))
                    },
                    Lie(name: "left over", code: violation, mention: "1 bytes are left over") {
                        try $0.join()
                        let bytes = beat.encoded() + [0]
                        $0.send($0.frame(10, bytes, count: bytes.count))
                    },
                    Lie(name: "no start", code: violation, mention: "without its start") {
                        try $0.join()
                        $0.send($0.frame(15, [1], count: 2, flags: .continuation))
                    },
                    Lie(name: "no end", code: violation, mention: "inside another") {
                        try $0.join()
                        $0.send($0.frame(15, [1], count: 200, flags: .more))
                        $0.send($0.frame(15, [1], count: 200, flags: .more))
                    },
                    Lie(name: "stale term", code: .staleTerm, mention: "the term is") {
                        try $0.join()
                        $0.send($0.frame(beat, term: 0))
                    },
                    Lie(name: "out of turn", code: violation, mention: "RESULT") {
                        try $0.authenticate()
                        $0.send($0.frame(15, [UInt8](repeating: 0, count: 99), count: 99))
                    },
                    Lie(name: "coordinator's words", code: violation, mention: "LEASE") {
                        try $0.join()
                        $0.send($0.frame(13, [], count: 0))
                    },
                    Lie(name: "no such file", code: violation, mention: "does not exist") {
                        try $0.authenticate()
                        $0.say(.modelRequest(ModelRequest(file: 9, offset: 0)))
                    },
                    Lie(name: "no such place", code: violation, mention: "does not exist") {
                        try $0.authenticate()
                        $0.say(.modelRequest(ModelRequest(file: 0, offset: UInt64.max >> 1)))
                    },
                ], at: cluster)
            // Lines are written by a thread of their own, in order.
            try cluster.coordinator.waitForError("(stale-term): the term is ")
            let log = cluster.coordinator.errorText
            #expect(log.contains("hung up on liar-0 (127.0.0.1:"), "\(log)")
            #expect(log.contains("(protocol-violation): frame "), "\(log)")
            #expect(log.contains("(stale-term): the term is "), "\(log)")
            // A worker vanishes in the middle of a frame.
            let peer = try HostilePeer(cluster.address, token: Self.tokenBytes)
            try peer.join()
            _ = try peer.lease()
            peer.send(Array(peer.frame(beat).prefix(50)))
            peer.hangUp()
            try cluster.coordinator.waitForError("lost liar")
        }
    }

    @Test("of workers of another run")
    func strangersToTheRun() throws {
        try withCluster { cluster in
            func other(_ bytes: inout [UInt8]) { bytes[31] ^= 1 }
            try check(
                [
                    Lie(name: "model", code: .model, mention: "base model is") {
                        try $0.ready { other(&$0.modelDigest) }
                    },
                    Lie(name: "data", code: .data, mention: "data is") {
                        try $0.ready { other(&$0.dataDigest) }
                    },
                    Lie(name: "configuration", code: .configuration, mention: "configuration is") {
                        try $0.ready { other(&$0.configurationDigest) }
                    },
                    Lie(name: "fingerprint", code: .fingerprint, mention: "'goose 1'") {
                        try $0.ready { $0.fingerprint = "goose 1" }
                    },
                ], at: cluster)
        }
    }
}
