import SkeinBasics
import Testing

@testable import SkeinInference

@Suite("Texts that end an answer")
struct StopFilterTests {
    @Test("However a text is cut, it ends before the first of the stops")
    func cuts() {
        let text = "one two\nthree ENDfour\n\nfive"
        let stops = ["\n\n", "END", "five"]
        for first in 0...text.count {
            for second in first...text.count {
                var filter = StopFilter(stops)
                let letters = Array(text)
                var shown = ""
                for piece in [letters[..<first], letters[first..<second], letters[second...]] {
                    shown += filter.take(String(piece))
                }
                shown += filter.rest()
                #expect(shown == "one two\nthree ")
                #expect(filter.isStopped)
            }
        }
    }

    @Test(
        "The stop that is complete first ends the text, whatever the pieces are",
        arguments: UInt64(1)...8)
    func random(seed: UInt64) {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        var drawn: UInt32 = 0
        func draw(_ range: ClosedRange<Int>) -> Int {
            drawn += 1
            return range.lowerBound + Int(random.block(drawn).x) % range.count
        }
        func text(_ count: Int) -> String {
            String((0..<count).map { _ in draw(0...3) == 0 ? "b" : "a" })
        }
        for _ in 0..<500 {
            let stops = (0..<draw(1...4)).map { _ in text(draw(1...7)) }
            let whole = text(draw(0...30))
            // The first byte that completes a stop, and the longest that it completes.
            let end = (0...whole.count).first { end in
                stops.contains { whole.prefix(end).hasSuffix($0) }
            }
            let expected = end.map { end in
                let length =
                    stops.filter { whole.prefix(end).hasSuffix($0) }.map(\.count).max() ?? 0
                return String(whole.prefix(end - length))
            }
            var (filter, shown, rest) = (StopFilter(stops), "", Substring(whole))
            while !rest.isEmpty {
                let count = min(rest.count, draw(1...5))
                shown += filter.take(String(rest.prefix(count)))
                #expect(whole.hasPrefix(shown))
                rest = rest.dropFirst(count)
            }
            shown += filter.rest()
            #expect(shown == expected ?? whole, "\(stops) in \(whole), seed \(seed)")
            #expect(filter.isStopped == (expected != nil))
        }
    }

    @Test("What only looks like a beginning of a stop comes out in the end")
    func rest() {
        var filter = StopFilter(["\u{1F600}!", "###"])
        #expect(filter.take("a \u{1F600}") == "a ")
        #expect(filter.take("? ##") == "\u{1F600}? ")
        #expect(filter.rest() == "##")
        #expect(!filter.isStopped)
    }
}
