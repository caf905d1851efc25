import Testing

@testable import SkeinServe

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

    @Test("What only looks like a beginning of a stop comes out in the end")
    func rest() {
        var filter = StopFilter(["\u{1F600}!", "###"])
        #expect(filter.take("a \u{1F600}") == "a ")
        #expect(filter.take("? ##") == "\u{1F600}? ")
        #expect(filter.rest() == "##")
        #expect(!filter.isStopped)
    }
}
