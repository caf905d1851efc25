import Testing

@testable import SkeinBasics

@Suite struct WordsTests {
    @Test("a near miss is recognized, a far one is not")
    func suggestions() {
        let names = ["--rank", "--resume", "--report-every", "--epochs"]
        #expect(Words.nearest(to: "--rnak", among: names) == "--rank")
        #expect(Words.nearest(to: "--RESUME", among: names) == "--resume")
        #expect(Words.nearest(to: "--report", among: names) == "--report-every")
        #expect(Words.nearest(to: "--quantize", among: names) == nil)
        #expect(Words.nearest(to: "--host", among: ["--loss", "--hosts-file"]) == "--hosts-file")
        #expect(Words.nearest(to: "--host", among: ["--loss"]) == nil)
        #expect(Words.nearest(to: "x", among: ["on", "off"]) == nil)
        #expect(Words.editDistance(Array("kitten"), Array("sitting")) == 3)
        #expect(Words.editDistance(Array("abcd"), Array("acbd")) == 1)
        #expect(Words.editDistance([], Array("abc")) == 3)
    }
}
