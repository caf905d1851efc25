import Testing

@testable import SkeinCoordination

@Suite("pieces of the model on their way to workers")
struct PieceQueueTests {
    /// Pieces of 1,000 bytes with their message's head.
    private static let pieceBytes = 1000

    private static func piece(_ number: Int) -> ModelRequest {
        ModelRequest(file: 0, offset: UInt64(number))
    }

    private static func message(_ piece: ModelRequest) -> EncodedMessage {
        let bytes = [UInt8](repeating: 7, count: pieceBytes - ModelChunk.headByteCount)
        return EncodedMessage(
            .modelChunk(ModelChunk(file: piece.file, offset: piece.offset, bytes: bytes)))
    }

    private static func number(_ message: EncodedMessage) -> Int? {
        // The offset follows the file, both little-endian.
        message.bytes.count > 4 ? Int(message.bytes[4]) : nil
    }

    /// A line with room for `pieces` pieces.
    private static func line(_ pieces: Int) -> PieceQueue {
        PieceQueue(limit: pieces * pieceBytes, pieceBytes: pieceBytes)
    }

    /// Reads all that there is room for.
    ///
    /// - Returns: what is sent to whom, in order.
    private static func serve(
        _ line: inout PieceQueue, now: Duration = .zero
    ) -> [String] {
        var sent: [String] = []
        while true {
            for delivery in line.deliveries(now: now) {
                sent.append("\(delivery.peer.number): \(number(delivery.message) ?? -1)")
            }
            guard let next = line.next() else { return sent }
            line.read(next, message(next))
        }
    }

    private static func ask(_ line: inout PieceQueue, _ peer: UInt64, _ pieces: Int...) {
        for number in pieces {
            let isTaken = line.ask(for: piece(number), by: PeerID(peer))
            #expect(isTaken, "piece \(number) for \(peer)")
        }
    }

    private static func expectServed(
        _ line: inout PieceQueue, _ expected: [String], _ why: String = "", now: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let sent = serve(&line, now: now)
        #expect(sent == expected, "\(why)", sourceLocation: sourceLocation)
    }

    private static func expectServed(
        _ line: inout PieceQueue, count: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let sent = serve(&line)
        #expect(sent.count == count, sourceLocation: sourceLocation)
    }

    private static func expectLook(
        _ line: inout PieceQueue, _ peer: PeerID, _ taken: UInt64, _ now: Duration,
        _ expected: PieceQueue.Look?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let look = line.look(at: peer, taken: taken, now: now)
        #expect(look == expected, sourceLocation: sourceLocation)
    }

    @Test("a piece that several ask for is read once, is in memory once and is sent to all")
    func shared() {
        var line = Self.line(64)
        for peer in 1...100 as ClosedRange<UInt64> { Self.ask(&line, peer, 0, 1, 2, 3) }
        let sent = Self.serve(&line)
        #expect(sent.count == 400)
        #expect(line.bytes == 4 * Self.pieceBytes)
        for peer in 1...100 {
            let own = sent.filter { $0.hasPrefix("\(peer): ") }
            #expect(own == (0...3).map { "\(peer): \($0)" })
        }
    }

    @Test("each gets its pieces in its own order, whatever is in memory already")
    func order() {
        var line = Self.line(64)
        Self.ask(&line, 1, 5, 6)
        Self.expectServed(&line, ["1: 5", "1: 6"])
        Self.ask(&line, 2, 9, 6, 5)
        Self.expectServed(&line, ["2: 9", "2: 6", "2: 5"])
    }

    @Test("all pieces together never exceed the limit; a request beyond it waits for room")
    func limit() {
        var line = Self.line(4)
        Self.ask(&line, 1, 0, 1, 2, 3, 4, 5)
        Self.expectServed(&line, ["1: 0", "1: 1", "1: 2", "1: 3"])
        #expect(line.bytes == 4 * Self.pieceBytes && line.isShort)
        Self.ask(&line, 2, 9)
        Self.expectServed(&line, [])
        #expect(line.waits(PeerID(2)) && !line.waits(PeerID(1)))
        // What is in memory costs nothing.
        Self.ask(&line, 3, 2)
        Self.expectServed(&line, ["3: 2"])
        // The first has taken two, of which the third one's is not one.
        line.left(PeerID(1), pending: 2 * (Self.pieceBytes + FrameHeader.byteCount))
        Self.expectServed(&line, ["1: 4", "2: 9"])
        #expect(line.bytes == 4 * Self.pieceBytes)
    }

    @Test("a piece counts until all of it has been taken, by all who are sent it")
    func taken() {
        var line = Self.line(2)
        let whole = Self.pieceBytes + FrameHeader.byteCount
        for peer in 1...2 as ClosedRange<UInt64> { Self.ask(&line, peer, 0, 1) }
        Self.expectServed(&line, count: 4)
        Self.ask(&line, 1, 2)
        line.left(PeerID(1), pending: whole + 1)
        Self.expectServed(&line, [])
        line.left(PeerID(1), pending: whole)
        Self.expectServed(&line, [], "the second one has not taken it")
        line.left(PeerID(2), pending: 2)
        Self.expectServed(&line, ["1: 2"])
        line.left(PeerID(1), pending: 0)
        line.left(PeerID(2), pending: 0)
        #expect(line.bytes == 0, "no worker fetches, so nothing is kept")
    }

    @Test("each worker has one place in the line: one that asks for much delays no other")
    func fairness() {
        var line = Self.line(64)
        Self.ask(&line, 1, 10, 11, 12, 13, 14, 15, 16, 17)
        Self.ask(&line, 2, 20, 21)
        Self.ask(&line, 3, 30)
        let sent = Self.serve(&line)
        #expect(sent.prefix(5) == ["1: 10", "2: 20", "3: 30", "1: 11", "2: 21"])
        let isTaken = line.ask(for: Self.piece(18), by: PeerID(1))
        #expect(!isTaken, "eight are asked for and not taken")
    }

    @Test("who takes nothing while others wait is hung up on, and the others are served")
    func mute() {
        var line = Self.line(4)
        Self.ask(&line, 1, 0, 1, 2, 3)
        Self.expectServed(&line, count: 4)
        let first = PeerID(1)
        Self.expectLook(&line, first, 5, .seconds(1), .moves)
        Self.expectLook(&line, first, 5, .seconds(500), .stands)
        Self.ask(&line, 2, 7)
        Self.expectServed(&line, [])
        Self.expectLook(&line, PeerID(2), 0, .seconds(500), nil)
        Self.expectLook(&line, first, 6, .seconds(500), .moves)
        Self.expectLook(&line, first, 6, .seconds(503), .stands)
        Self.expectLook(
            &line, first, 6, .seconds(504),
            .tooSlow("it has taken nothing of the model for 4.0 s, and others wait"))
        line.remove(first)
        Self.expectServed(&line, ["2: 7"])
    }

    @Test("who takes a piece in drops has ten minutes while others wait")
    func drip() {
        var line = Self.line(1)
        Self.ask(&line, 1, 0)
        Self.ask(&line, 2, 1)
        Self.expectServed(&line, ["1: 0"], now: .seconds(100))
        for second in 101..<700 {
            Self.expectLook(&line, PeerID(1), UInt64(second), .seconds(second), .moves)
        }
        Self.expectLook(
            &line, PeerID(1), 700, .seconds(700),
            .tooSlow("it takes a piece of the model for 600.0 s, and others wait"))
    }

    @Test("nothing is read for a worker that is gone, and pieces that are missing name who waits")
    func gone() {
        var line = Self.line(4)
        Self.ask(&line, 1, 0)
        Self.ask(&line, 2, 1)
        Self.ask(&line, 3, 1)
        line.remove(PeerID(1))
        let next = line.next()
        #expect(next == Self.piece(1))
        let waiting = line.missing(Self.piece(1))
        #expect(waiting == [PeerID(2), PeerID(3)])
        line.remove(PeerID(2))
        line.remove(PeerID(3))
        let nothing = line.next()
        #expect(nothing == nil && line.bytes == 0)
        // It was being read when its worker left.
        Self.ask(&line, 4, 3)
        _ = line.next()
        line.remove(PeerID(4))
        line.read(Self.piece(3), Self.message(Self.piece(3)))
        Self.expectServed(&line, [])
        #expect(line.bytes == 0)
    }

    @Test("whatever workers do, the limit holds, order holds, and in the end nothing is left")
    func random() {
        for seed in 1...200 as ClosedRange<UInt64> {
            var random = WireRandom(seed: seed)
            var line = Self.line(5)
            var expected: [UInt64: [Int]] = [:]
            var pending: [UInt64: Int] = [:]
            for turn in 0..<300 {
                let peer = UInt64(random.upTo(7))
                switch random.upTo(5) {
                case 0, 1:
                    let number = random.upTo(11)
                    if line.ask(for: Self.piece(number), by: PeerID(peer)) {
                        expected[peer, default: []].append(number)
                    }
                case 2, 3:
                    let left = random.upTo(pending[peer] ?? 0)
                    pending[peer] = left
                    line.left(PeerID(peer), pending: left)
                case 4 where random.upTo(9) == 0:
                    line.remove(PeerID(peer))
                    (expected[peer], pending[peer]) = (nil, nil)
                default:
                    if let next = line.next() { line.read(next, Self.message(next)) }
                }
                for delivery in line.deliveries(now: .seconds(turn)) {
                    let to = delivery.peer.number
                    let number = expected[to]?.removeFirst()
                    #expect(number == Self.number(delivery.message), "seed \(seed)")
                    pending[to, default: 0] += Self.pieceBytes + FrameHeader.byteCount
                }
                #expect(line.bytes <= 5 * Self.pieceBytes, "seed \(seed)")
                #expect(line.queue.count <= 8, "seed \(seed)")
            }
            for _ in 0..<200 {
                for peer in 0..<8 as Range<UInt64> { line.left(PeerID(peer), pending: 0) }
                for to in Self.serve(&line).compactMap({ $0.split(separator: ":").first }) {
                    expected[UInt64(to) ?? 99]?.removeFirst()
                }
            }
            #expect(expected.values.allSatisfy { $0.isEmpty }, "seed \(seed): everybody is served")
            #expect(line.bytes == 0, "seed \(seed)")
        }
    }
}
