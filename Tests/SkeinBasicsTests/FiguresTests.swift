import Testing

@testable import SkeinBasics

@Suite struct FiguresTests {
    @Test("numbers are grouped by thousands")
    func grouped() {
        let cases = [
            (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (134_515_008, "134,515,008"),
            (-1234, "-1,234"), (.min, "-9,223,372,036,854,775,808"),
        ]
        for (number, text) in cases { #expect(Figures.grouped(number) == text) }
        #expect(Figures.count(1, "tensor") == "1 tensor")
        #expect(Figures.count(2270, "row") == "2,270 rows")
    }

    @Test("sizes, rates and times have three digits that count and a unit")
    func scaled() {
        #expect(Figures.bytes(0) == "0 B")
        #expect(Figures.bytes(999) == "999 B")
        #expect(Figures.bytes(999_600) == "1.00 MB")
        #expect(Figures.bytes(98_362_432) == "98.4 MB")
        #expect(Figures.rate(135.4e9, unit: "FLOP") == "135 GFLOP/s")
        #expect(Figures.rate(1e15, unit: "B") == "1000 TB/s")
        #expect(Figures.seconds(1.934) == "1.93 s")
        #expect(Figures.seconds(0.0041) == "4.10 ms")
        #expect(Figures.seconds(0.00082) == "820 us")
        #expect(Figures.seconds(0) == "0.00 s")
        #expect(Figures.percent(0.6127) == "61.3 %")
        #expect(Figures.percent(0.00214) == "0.21 %")
    }

    @Test("a table's columns are as wide as their widest cell")
    func table() {
        let rows = [["kernel", "size", "time"], ["a", "10 x 2", "1 s"], ["bb", "", "100 s"]]
        #expect(
            TextTable.text(rows, leftColumns: 2) == """
                kernel  size     time
                a       10 x 2    1 s
                bb              100 s

                """)
        #expect(TextTable.text([["a", ""], ["bcd", ""]], leftColumns: 2) == "a\nbcd\n")
        #expect(TextTable.text([]).isEmpty)
    }
}
