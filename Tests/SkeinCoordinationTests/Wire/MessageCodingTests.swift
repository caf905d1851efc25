import SkeinCoordination
import Testing

@Suite("messages as bytes")
struct MessageCodingTests {
    @Test("every message is read back as it was written", arguments: MessageType.allCases)
    func roundTrip(_ type: MessageType) throws {
        let seed = WireRandom.seed("round trip of \(type)")
        var random = WireRandom(seed: seed)
        for _ in 0..<200 {
            let message = Message.random(type, using: &random)
            #expect(message.type == type)
            #expect(try Message.decode(type, message.encoded()) == message, "seed \(seed)")
        }
    }

    @Test(
        "a message that was cut is an error or another message",
        arguments: MessageType.allCases)
    func truncations(_ type: MessageType) throws {
        // A field that goes on to the end of its message can end earlier.
        let open: Set<MessageType> = [.modelChunk, .parameters, .result, .status]
        let seed = WireRandom.seed("truncations of \(type)")
        var random = WireRandom(seed: seed)
        for _ in 0..<5 {
            let bytes = Message.random(type, using: &random).encoded()
            for count in 0..<bytes.count {
                let cut = Array(bytes[..<count])
                guard let message = Self.decoded(type, cut) else { continue }
                #expect(open.contains(type), "seed \(seed), \(count) bytes")
                #expect(message.encoded() == cut)
            }
            if !open.contains(type) {
                #expect(throws: WireError.trailingBytes(type, count: 1)) {
                    try Message.decode(type, bytes + [0])
                }
            }
        }
    }

    @Test(
        "a changed byte gives an error or the one message that has these bytes",
        arguments: MessageType.allCases)
    func flips(_ type: MessageType) throws {
        let seed = WireRandom.seed("flips of \(type)")
        var random = WireRandom(seed: seed)
        for _ in 0..<3 {
            let bytes = Message.random(type, using: &random).encoded()
            for index in bytes.indices {
                for mask in [1, 0x80, 0xff, UInt8(truncatingIfNeeded: random.next()) | 1] {
                    var changed = bytes
                    changed[index] ^= mask
                    guard let message = Self.decoded(type, changed) else { continue }
                    // The handshake's transcript relies on this.
                    #expect(message.encoded() == changed, "seed \(seed), byte \(index)")
                }
            }
        }
    }

    /// nil for a `WireError`.
    private static func decoded(_ type: MessageType, _ bytes: [UInt8]) -> Message? {
        do throws(WireError) {
            return try Message.decode(type, bytes)
        } catch {
            return nil
        }
    }

    @Test("texts that a reader would refuse are not sent")
    func texts() throws {
        func sent(_ reason: String) throws -> String {
            let message = Message.rejection(Rejection(code: .full, reason: reason))
            guard case .rejection(let read) = try Message.decode(.rejection, message.encoded())
            else { return "" }
            return read.reason
        }
        #expect(try sent("a\u{1b}[31mb\nc\0\u{7f}\u{85}\u{202e}") == "a?[31mb?c????")
        #expect(try sent(String(repeating: "鵝", count: 300)) == String(repeating: "鵝", count: 170))
    }

    @Test("an empty name, control characters and broken UTF-8 are refused")
    func badTexts() throws {
        var random = WireRandom(seed: 1)
        var hello = Hello.random(using: &random)
        hello.name = "goose"
        let bytes = Message.hello(hello).encoded()
        for (index, byte) in [(5, UInt8(0x0a)), (5, 0x7f), (5, 0xff), (9, 0xc3)] {
            var changed = bytes
            changed[index] = byte
            #expect(throws: WireError.notPlainText(.hello, field: "name")) {
                try Message.decode(.hello, changed)
            }
        }
        hello.name = ""
        #expect(throws: WireError.badValue(.hello, field: "name", found: 0)) {
            try Message.decode(.hello, Message.hello(hello).encoded())
        }
    }

    @Test(
        "names of model files that lead elsewhere are refused",
        arguments: ["/etc/passwd", "a/b", ".", "..", "../x"])
    func fileNames(_ name: String) {
        var random = WireRandom(seed: 2)
        var offer = Offer.random(using: &random)
        offer.modelFiles = [.init(name: name, byteCount: 1, digest: random.bytes(32))]
        let bytes = Message.offer(offer).encoded()
        #expect(throws: WireError.badFileName(.offer, name: name)) {
            try Message.decode(.offer, bytes)
        }
    }

    @Test("a repeated name, an empty one among others and sizes too large are refused")
    func fileLists() {
        var random = WireRandom(seed: 3)
        var offer = Offer.random(using: &random)
        let digest = random.bytes(32)
        func error(_ files: [(String, UInt64)]) -> WireError? {
            offer.modelFiles = files.map { .init(name: $0.0, byteCount: $0.1, digest: digest) }
            do throws(WireError) {
                _ = try Message.decode(.offer, Message.offer(offer).encoded())
                return nil
            } catch {
                return error
            }
        }
        let most = UInt64(Int64.max)
        #expect(error([("a", most), ("b", 0)]) == nil)
        #expect(error([("", 1)]) == nil)
        #expect(error([("a", 1), ("a", 1)]) == .badFileName(.offer, name: "a"))
        #expect(error([("a", 1), ("", 1)]) == .badFileName(.offer, name: ""))
        #expect(
            error([("a", most + 1)])
                == .badValue(.offer, field: "file size", found: most + 1))
        #expect(
            error([("a", most), ("b", 1)])
                == .badValue(.offer, field: "file size", found: most + 1))
    }

    @Test("leases with impossible ids or targets are refused")
    func leases() {
        func error(_ ids: [Int32], _ targets: [Range<Int>]) -> WireError? {
            let grant = LeaseGrant(
                key: WorkKey(round: 1, index: 0), attempt: 1, work: .gradient(nil), step: 1,
                parameterVersion: 1, parameterDigest: Ready.noDigest,
                rows: [
                    .init(number: 0, ids: ids, targets: targets),
                    .init(number: 1, ids: [1, 2], targets: [1..<2]),
                ])
            do throws(WireError) {
                _ = try Message.decode(.lease, Message.lease(grant).encoded())
                return nil
            } catch {
                return error
            }
        }
        let ids: [Int32] = [0, 1, .max, 3]
        #expect(error(ids, [1..<2, 2..<4]) == nil)
        #expect(error(ids, []) == nil)
        #expect(error([], []) == .badValue(.lease, field: "tokens", found: 0))
        #expect(error([0, -1], []) == .badValue(.lease, field: "token", found: 0xffff_ffff))
        for targets in [[0..<2], [1..<5], [2..<2], [2..<3, 1..<2], [1..<3, 2..<4]] {
            let found = UInt64(targets[targets.count - 1].lowerBound)
            #expect(
                error(ids, targets) == .badValue(.lease, field: "target", found: found),
                "\(targets)")
        }
        #expect(
            error(ids, [1..<2, 2..<3, 3..<4, 4..<5])
                == .overLimit(.lease, field: "targets", limit: 3, found: 4))
    }

    @Test("leases whose pairs of answers are impossible are refused")
    func pairs() {
        func error(
            rows: Int = 2, isEvaluation: Bool = false, share: Double = 0.5,
            references: [Double] = [-1, -2], edit: (inout [UInt8]) -> Void = { _ in }
        ) -> WireError? {
            let pairs = PairLease(tokenShare: share, references: references)
            let grant = LeaseGrant(
                key: WorkKey(round: 1, index: 0), attempt: 1,
                work: isEvaluation ? .evaluation(pairs) : .gradient(pairs), step: 1,
                parameterVersion: 1, parameterDigest: Ready.noDigest,
                rows: (0..<rows).map {
                    .init(number: UInt32($0), ids: [1, 2], targets: [1..<2])
                })
            var bytes = Message.lease(grant).encoded()
            edit(&bytes)
            do throws(WireError) {
                guard case .lease(let read) = try Message.decode(.lease, bytes) else { return nil }
                #expect(read == grant)
                return nil
            } catch {
                return error
            }
        }
        #expect(error() == nil)
        #expect(error(isEvaluation: true, share: 0, references: []) == nil)
        #expect(error(share: 1, references: [0, -1e300]) == nil)
        #expect(error(rows: 3) == .badValue(.lease, field: "rows", found: 3))
        for share in [-0.1, 1.1, .nan, .infinity] {
            #expect(
                error(share: share)
                    == .badValue(.lease, field: "token share", found: share.bitPattern))
        }
        #expect(
            error(rows: 4, references: [-1, -2])
                == .badValue(.lease, field: "references", found: 2))
        #expect(
            error(references: [-1, -2, -3])
                == .overLimit(.lease, field: "references", limit: 2, found: 3))
        for reference in [0.5, .nan, -.infinity] {
            #expect(
                error(references: [-1, reference])
                    == .badValue(.lease, field: "reference", found: reference.bitPattern))
        }
        // Work without a loss has nothing to compare. The kind stands after key and attempt.
        for kind in [WorkKind.local, .logProbabilities] {
            #expect(
                error { $0[16] = kind.rawValue | 0x80 }
                    == .badValue(.lease, field: "kind", found: UInt64(kind.rawValue | 0x80)))
        }
    }

    @Test("false counts are refused before anything is reserved for them")
    func counts() {
        let head = [UInt8](repeating: 0, count: 12)
        let many: [UInt8] = [0, 0, 1, 0]
        let sizes = [UInt8](repeating: 0, count: 16)
        #expect(
            throws: WireError.truncated(.lease, field: "rows", needed: 1 << 20, left: 0)
        ) {
            try Message.decode(
                .lease,
                head + [1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 44) + many)
        }
        #expect(
            throws: WireError.overLimit(.heartbeat, field: "computing", limit: 2048, found: 65536)
        ) {
            try Message.decode(.heartbeat, sizes + many)
        }
        let tail: [UInt8] = [255, 255, 255, 255]
        #expect(
            throws: WireError.overLimit(
                .heartbeat, field: "computing", limit: 2048, found: 4_294_967_295)
        ) {
            try Message.decode(.heartbeat, sizes + tail)
        }
    }

    @Test("an evaluation's result carries nothing, and an update is not based on a later one")
    func contradictions() {
        var random = WireRandom(seed: 4)
        var result = WorkResult.random(using: &random)
        result.kind = .gradient
        result.payload = [1, 2]
        var bytes = Message.result(result).encoded()
        bytes[16] = WorkKind.evaluation.rawValue
        #expect(throws: WireError.trailingBytes(.result, count: 2)) {
            try Message.decode(.result, bytes)
        }
        let update = ParameterUpdate(version: 3, base: 3, digest: random.bytes(32), payload: [])
        #expect(throws: WireError.badValue(.parameters, field: "base", found: 3)) {
            try Message.decode(.parameters, Message.parameters(update).encoded())
        }
    }
}
