import Testing

@testable import SkeinCoordination

@Suite("peers that have not proved the token")
struct StrangerQueueTests {
    /// Lets peers come from an address each: "a" 3 times and "b" once is "aaab".
    private static func line(_ sources: String) -> StrangerQueue {
        var line = StrangerQueue()
        for (number, source) in sources.utf8.enumerated() {
            line.came(PeerID(UInt64(number)), from: [source])
        }
        return line
    }

    /// All of them in the order in which they go.
    private static func order(_ line: StrangerQueue) -> [UInt64] {
        var line = line
        var order: [UInt64] = []
        while let choice = line.choice {
            order.append(choice.peer.number)
            line.remove(choice.peer)
        }
        return order
    }

    @Test("of the address with most strangers the oldest goes, until all have as many")
    func shares() {
        #expect(Self.order(Self.line("baaab")) == [1, 0, 2, 3, 4])
        #expect(Self.order(Self.line("aaaa")) == [0, 1, 2, 3])
        #expect(StrangerQueue().choice == nil)
    }

    @Test("those without HELLO go before those of the same address that have spoken")
    func silence() {
        var line = Self.line("aaab")
        line.spoke(PeerID(0))
        line.spoke(PeerID(1))
        line.spoke(PeerID(9))
        #expect(Self.order(line) == [2, 0, 3, 1])
    }

    @Test("however many come from one address, one from another one keeps its place")
    func crowd() {
        var line = Self.line("b")
        var dropped: [UInt64] = []
        for number in 1...10_000 as ClosedRange<UInt64> {
            while line.count >= 512, let choice = line.choice {
                dropped.append(choice.peer.number)
                line.remove(choice.peer)
                #expect(choice.fromThere == 511 && choice.count == 512)
            }
            line.came(PeerID(number), from: Array("a".utf8))
        }
        #expect(dropped == Array(1...9489))
        line.remove(PeerID(0))
        line.remove(PeerID(0))
        #expect(line.count == 511)
    }
}
