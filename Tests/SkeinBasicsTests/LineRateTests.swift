import Testing

@testable import SkeinBasics

@Suite struct LineRateTests {
    @Test("a burst is let through, then one line in each interval, and the rest is counted")
    func rate() {
        var rate = LineRate(burst: 3, interval: .seconds(60))
        #expect(rate.takeLeftOut(at: .seconds(5)) == nil)
        // Ten a second for ten minutes.
        var lines: [Int] = []
        for tenth in 0..<6000 {
            if let leftOut = rate.admit(at: .seconds(5) + .milliseconds(100 * tenth)) {
                lines.append(leftOut)
            }
        }
        #expect(lines == [0, 0, 0] + [597] + Array(repeating: 599, count: 8))
        // The last minute's are reported though no more lines come.
        #expect(rate.takeLeftOut(at: .seconds(604)) == nil)
        #expect(rate.takeLeftOut(at: .seconds(606)) == 6000 - lines.count - lines.reduce(0, +))
        #expect(rate.takeLeftOut(at: .seconds(3600)) == nil)
    }

    @Test("after a pause a whole burst is let through again, and no more")
    func pause() {
        var rate = LineRate(burst: 2, interval: .seconds(1))
        for now in [Duration.zero, .seconds(1_000_000_000)] {
            #expect(rate.admit(at: now) == (now == .zero ? 0 : 1))
            #expect(rate.admit(at: now) == 0)
            #expect(rate.admit(at: now) == nil)
        }
        #expect(rate.takeLeftOut(at: .seconds(1_000_000_001)) == 1)
    }
}
