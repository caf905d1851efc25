import Foundation
import SkeinCluster
import SkeinCoordination
import SkeinLab
import SkeinTestSupport
import Synchronization
import Testing

/// Peers that know the token, ask for much and never read.
@Suite("peers that never read", .ownThreads)
struct MuteTests {
    private static let pieceBytes = SkeinCoordination.Limits.modelChunkBytes

    /// Bytes of memory that a process uses besides mapped files; 0 once it has ended.
    private func anonymousBytes(_ process: SkeinProcess) -> Int {
        let data = FileManager.default.contents(atPath: "/proc/\(process.identifier)/status")
        let text = String(decoding: data ?? Data(), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
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
        // 130 MB: no peer needs to share a piece with another.
        var model = TinyModel()
        model.width = 1024
        model.feedForwardWidth = 4096
        model.layerCount = 2
        try Workbench.with(rows: 4, model: model) { bench in
            let cluster = try ClusterHarness(
                bench, "run", ["--epochs", "1"])
            let idle = anonymousBytes(cluster.coordinator)
            let pieces = try bench.bytes(bench.model).count / Self.pieceBytes
            #expect(pieces > 100)
            let mutes = try (0..<100).map { number in
                let peer = try HostilePeer(cluster.address, name: "mute-\(number)")
                try peer.authenticate()
                for place in 0..<8 {
                    let offset = (8 * number + place) % pieces * Self.pieceBytes
                    peer.say(.modelRequest(ModelRequest(file: 0, offset: UInt64(offset))))
                }
                return peer
            }
            var most = 0
            func beat(for seconds: Double) {
                let end = ContinuousClock.now + .seconds(seconds)
                while ContinuousClock.now < end {
                    for peer in mutes { peer.say(.heartbeat(Heartbeat())) }
                    most = max(most, anonymousBytes(cluster.coordinator) - idle)
                    Thread.sleep(forTimeInterval: 0.2)
                }
            }
            beat(for: 5)
            print("mute: 100 cost \(most >> 20) MiB")
            let limit = try promised(cluster)
            #expect(most > 32 << 20, "they hold pieces")
            #expect(most < limit, "\(most) bytes, promised \(limit)")

            // The line is full. A peer that waits is served once the first have stood still for 4 s.
            let worker = try cluster.startWorker(
                "fetches", model: nil,
                shell: "SKEIN_CACHE='\(bench.path("cache"))' exec \"$@\"")
            let end = ContinuousClock.now + .seconds(SkeinProcess.patience)
            while !worker.errorText.contains("joined the run"), ContinuousClock.now < end {
                beat(for: 0.5)
            }
            #expect(cluster.coordinator.errorText.contains("it has taken nothing of the model for"))
            #expect(most < limit, "\(most) bytes, promised \(limit)")
            try cluster.finish()
            print("mute: at most \(most >> 20) MiB")
        }
    }

    @Test("a worker that is alive and gets nowhere with its model is sent away, and may come again")
    func standsStill() throws {
        try FaultBench.withCluster(["--patience", "2600ms"]) { cluster in
            let peer = try HostilePeer(cluster.address, name: "hung")
            try peer.authenticate()
            peer.isAlive = true
            let rejection = try peer.rejection()
            #expect(rejection?.code == .timeout, "\(rejection as Any)")
            #expect(
                rejection?.reason.hasPrefix("no progress with its model for 13.") == true,
                "\(rejection as Any)")
            try cluster.coordinator.waitForError("hung up on hung (127.0.0.1:")
            let again = try HostilePeer(cluster.address, name: "hung")
            try again.authenticate()
        }
    }

    @Test("a coordinator that sends what was not asked for fills no memory and is hung up on")
    func flood() throws {
        try Workbench.with { bench in
            let liar = try FloodingCoordinator(chunks: 600)
            defer { liar.stop() }
            let worker = try SkeinProcess(
                [
                    "worker", "--coordinator", liar.address, "--name", "w", "--threads", "1",
                    "--patience", "20",
                ], shell: "SKEIN_CACHE='\(bench.path("cache"))' exec \"$@\"", isHeld: true)
            let sentence =
                "the coordinator sent a piece of the model that this worker did not ask for"
            var most = 0
            try FaultBench.wait(for: "three floods") {
                most = max(most, anonymousBytes(worker))
                return liar.floods >= 3 && worker.errorText.contains(sentence)
            }
            print("mute: a worker that was sent \(600 * 3) pieces has \(most >> 20) MiB")
            #expect(most < 128 << 20)
            worker.end()
        }
    }
}

/// Plays a coordinator without a token up to its offer, and then sends the same piece of the model
/// again and again.
private final class FloodingCoordinator: Sendable {
    let address: String
    private let descriptor: Int32
    private let count = Mutex(0)

    /// Connections that were flooded to the end, or until they were closed.
    var floods: Int { count.withLock { $0 } }

    init(chunks: Int) throws {
        (descriptor, address) = try LoopbackPort.listen()
        Thread { [self] in
            while true {
                let peer = accept(descriptor, nil, nil)
                if peer < 0 {
                    close(descriptor)
                    return
                }
                _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
                try? serve(peer, chunks)
                count.withLock { $0 += 1 }
                close(peer)
            }
        }.start()
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static let chunk = [UInt8](
        repeating: 7, count: SkeinCoordination.Limits.modelChunkBytes)

    private static let offer: Offer = {
        let zeros = [UInt8](repeating: 0, count: 32)
        return Offer(
            proof: zeros, term: 7, start: Array(zeros.prefix(16)), modelDigest: zeros,
            dataDigest: zeros, configurationDigest: zeros, recipeDigest: zeros, answerDigest: zeros,
            fingerprint: "goose", configuration: Array("{}".utf8), longestRow: 1,
            modelFiles: [.init(name: "", byteCount: 1 << 30, digest: zeros)])
    }()

    private func serve(_ peer: Int32, _ chunks: Int) throws {
        var sealer = FrameSealer()
        var inbound = InboundQueue(bounds: MessageBounds(from: .dialler, in: .greeting))
        var handshake = CoordinatorHandshake(
            token: [], nonce: [UInt8](repeating: 9, count: 32), offer: Self.offer)
        func say(_ message: Message, term: UInt32) -> Bool {
            let payload = message.encoded()
            let bytes = payload.withUnsafeBytes {
                sealer.seal(
                    type: message.type.rawValue, term: term, messageLength: payload.count,
                    payload: $0)
            }
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes {
                    Foundation.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(sent)
            }
            return true
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            buffer.withUnsafeBytes {
                inbound.append(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            guard let message = try inbound.next()?.message else { continue }
            switch try handshake.receive(message) {
            case .challenged(_, let challenge):
                inbound.bounds = MessageBounds(from: .dialler, in: .proof)
                _ = say(challenge, term: 0)
            case .authenticated(_, let keys, let offer):
                sealer.authenticate(with: keys.coordinatorToWorker)
                guard say(offer, term: 7) else { return }
                let piece = Message.modelChunk(ModelChunk(file: 0, offset: 0, bytes: Self.chunk))
                for _ in 0..<chunks { guard say(piece, term: 7) else { return } }
                return
            case .ready: return
            }
        }
    }
}
