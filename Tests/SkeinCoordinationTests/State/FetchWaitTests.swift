import Testing

@testable import SkeinCoordination

@Suite("waiting for another process that fetches the model")
struct FetchWaitTests {
    private static func looks(
        _ signs: [(second: Int, bytes: UInt64, touched: Int64)]
    ) -> [FetchWait.Verdict] {
        var wait = FetchWait(patience: .seconds(60))
        return signs.map {
            wait.look(at: .init(byteCount: $0.bytes, touched: $0.touched), now: .seconds($0.second))
        }
    }

    @Test("it lasts while the other gets on, however slowly, and then as long as the patience")
    func standstill() {
        #expect(
            Self.looks([(0, 5, 1), (59, 5, 1), (60, 5, 1)])
                == [.waits, .waits, .standsStill(.seconds(60))])
        #expect(
            Self.looks([(0, 5, 1), (59, 6, 1), (118, 6, 1), (119, 6, 1)])
                == [.waits, .moves(byteCount: 1), .waits, .standsStill(.seconds(60))])
    }

    @Test("one that hashes what it has gets on, too, and a file that goes takes nothing away")
    func hashing() {
        #expect(
            Self.looks([(0, 5, 1), (50, 5, 2), (100, 3, 2), (159, 3, 2), (160, 3, 2)])
                == [
                    .waits, .moves(byteCount: 0), .moves(byteCount: 0), .waits,
                    .standsStill(.seconds(60)),
                ])
    }
}
