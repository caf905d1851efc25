import Testing

@testable import SkeinNetwork

@Suite("a waiting line")
struct WaitingQueueTests {
    @Test("who joined first is first, and any may leave", arguments: 1...10)
    func order(seed: Int) {
        var state = UInt64(seed)
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var line = WaitingQueue()
        var expected: [Int] = []
        for _ in 0..<5000 {
            let slot = next(40)
            expected.removeAll { $0 == slot }
            if next(2) == 0 {
                line.join(slot)
                expected.append(slot)
            } else {
                line.leave(slot)
            }
            #expect(line.first == expected.first && line.count == expected.count)
            #expect(line.contains(slot) == expected.contains(slot))
            let third = line.first(where: { $0 % 3 == 0 })
            #expect(third == expected.first { $0 % 3 == 0 })
        }
        while let first = line.first {
            #expect(first == expected.removeFirst())
            line.leave(first)
        }
        #expect(expected.isEmpty)
    }
}
