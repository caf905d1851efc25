import Testing

@testable import SkeinCoordination

@Suite("parameters on their way to workers")
struct ParameterQueueTests {
    private let peer = PeerID(1)

    /// A queue whose methods can stand in expectations.
    private final class Told {
        private var line = ParameterQueue()

        typealias Said = [ParameterQueue.Directive]

        func publish(_ publication: ParameterQueue.Publication) -> Said {
            line.publish(publication)
        }
        func joined(_ peer: PeerID, version: UInt64, digest: [UInt8]) -> Said {
            line.joined(peer, version: version, digest: digest)
        }
        func lease(_ peer: PeerID, _ key: WorkKey, attempt: UInt32) -> Said {
            line.lease(peer, key, attempt: attempt)
        }
        func cancelled(_ peer: PeerID, _ key: WorkKey) -> Bool { line.cancelled(peer, key) }
        func endRound() { line.endRound() }
        func left(_ peer: PeerID) { line.left(peer) }
        func drained(_ peer: PeerID) -> Said { line.drained(peer) }
        func wholeWanted(by peer: PeerID) -> Said { line.wholeWanted(by: peer) }
        func version(of peer: PeerID) -> UInt64 { line.version(of: peer) }
        func waiting(for peer: PeerID) -> [WorkKey] { line.waiting(for: peer) }
    }

    private static func digest(_ version: UInt64) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: 32)
    }

    /// A version with a difference from the one before, unless it is the first.
    private static func publication(
        _ version: UInt64, hasWhole: Bool = true
    ) -> ParameterQueue.Publication {
        ParameterQueue.Publication(
            version: version, digest: digest(version),
            bases: version > 1 ? [digest(version - 1)] : [], hasWhole: hasWhole)
    }

    private func key(_ index: UInt32) -> WorkKey { WorkKey(round: 1, index: index) }

    /// A line with one worker that has just been sent version `version` in full.
    private func started(_ version: UInt64 = 1) -> Told {
        let line = Told()
        #expect(line.publish(Self.publication(version)) == [])
        #expect(
            line.joined(peer, version: 0, digest: Ready.noDigest)
                == [.parameters(peer, from: 0)])
        return line
    }

    @Test("a worker that joins gets the newest parameters, and its leases after them")
    func joins() {
        let line = started()
        #expect(line.lease(peer, key(0), attempt: 2) == [.lease(peer, key(0), attempt: 2)])
        #expect(line.version(of: peer) == 1)
        #expect(line.drained(peer) == [])
    }

    @Test("what a worker has counts only if its bytes are those of that version")
    func content() {
        for (version, digest, from) in [
            (4, Self.digest(4), nil), (3, Self.digest(3), 3), (4, Self.digest(3), 0),
            (3, Self.digest(4), 0), (2, Self.digest(2), 0), (5, Self.digest(5), 0),
            (0, Self.digest(4), 0), (.max, Self.digest(4), 0),
        ] as [(UInt64, [UInt8], UInt64?)] {
            let line = Told()
            _ = line.publish(Self.publication(4))
            let said = line.joined(peer, version: version, digest: digest)
            #expect(said == from.map { [.parameters(peer, from: $0)] } ?? [], "\(version)")
        }
    }

    @Test("leases wait for parameters that cannot be sent yet, and go out in order")
    func waiting() {
        let line = Told()
        _ = line.publish(Self.publication(3, hasWhole: false))
        #expect(
            line.joined(peer, version: 0, digest: Ready.noDigest)
                == [.wholeWanted(version: 3)])
        for index in 0..<3 as Range<UInt32> {
            #expect(line.lease(peer, key(index), attempt: 1) == [])
        }
        #expect(line.waiting(for: peer) == [key(0), key(1), key(2)])
        #expect(!line.cancelled(peer, key(1)), "it was never heard of")
        #expect(
            line.publish(Self.publication(3)) == [
                .parameters(peer, from: 0), .lease(peer, key(0), attempt: 1),
                .lease(peer, key(2), attempt: 1),
            ])
        #expect(line.cancelled(peer, key(0)))
    }

    @Test("no parameters are queued behind others that have not left")
    func oneAtATime() {
        let line = started()
        for version in 2...20 as ClosedRange<UInt64> {
            _ = line.publish(Self.publication(version))
            #expect(line.lease(peer, key(UInt32(version)), attempt: 1) == [])
            line.endRound()
        }
        #expect(line.version(of: peer) == 1)
        _ = line.lease(peer, key(77), attempt: 1)
        // All versions in between are skipped, and their leases are gone.
        #expect(
            line.drained(peer) == [
                .parameters(peer, from: 0), .lease(peer, key(77), attempt: 1),
            ])
        #expect(line.drained(peer) == [])
        _ = line.publish(Self.publication(21))
        #expect(
            line.lease(peer, key(78), attempt: 1) == [
                .parameters(peer, from: 20), .lease(peer, key(78), attempt: 1),
            ])
    }

    @Test("a worker without work gets nothing; one without any parameters gets its first")
    func withoutWork() {
        let line = started()
        _ = line.drained(peer)
        #expect(line.publish(Self.publication(2)) == [])
        let other = PeerID(2)
        _ = line.publish(Self.publication(5, hasWhole: false))
        _ = line.joined(other, version: 0, digest: Ready.noDigest)
        line.endRound()
        #expect(line.publish(Self.publication(5)) == [.parameters(other, from: 0)])
    }

    @Test("a worker that asks for the same parameters too often is hung up on")
    func flood() {
        let line = started()
        _ = line.drained(peer)
        for _ in 0..<Limits.wholesOfVersion {
            #expect(line.wholeWanted(by: peer) == [.parameters(peer, from: 0)])
            _ = line.drained(peer)
        }
        guard case .refuse(peer, let rejection)? = line.wholeWanted(by: peer).first else {
            Issue.record("it may ask for ever")
            return
        }
        #expect(rejection.code == .protocolViolation)
        #expect(rejection.reason == "it asked 5 times for the same parameters")
        // It may ask again for another version.
        let next = started(2)
        _ = next.drained(peer)
        #expect(next.wholeWanted(by: peer) == [.parameters(peer, from: 0)])
    }

    @Test("requests for a whole that is not encoded, or is due, count as one")
    func requestsBeforeTheWhole() {
        let line = started(2)
        _ = line.drained(peer)
        _ = line.publish(Self.publication(3, hasWhole: false))
        #expect(line.wholeWanted(by: peer) == [.wholeWanted(version: 3)])
        for _ in 0...Limits.wholesOfVersion { #expect(line.wholeWanted(by: peer) == []) }
        #expect(line.publish(Self.publication(3)) == [.parameters(peer, from: 0)])
    }

    @Test("a request that comes while a whole is being sent is handled once that has left")
    func requestMeanwhile() {
        let line = started()
        for _ in 0..<4 { #expect(line.wholeWanted(by: peer) == []) }
        #expect(line.drained(peer) == [.parameters(peer, from: 0)])
        #expect(line.drained(peer) == [])
    }

    @Test("nothing is sent to who has left or never joined")
    func unknown() {
        let line = started()
        line.left(peer)
        #expect(line.lease(peer, key(0), attempt: 1) == [])
        #expect(line.wholeWanted(by: peer) == [])
        #expect(line.drained(peer) == [])
        #expect(line.publish(Self.publication(2)) == [])
    }
}
