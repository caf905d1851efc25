import SkeinJSON
import Testing

@Suite("Exact decimals")
struct ExactDecimalTests {
    /// A number of a table.
    private static func exact(_ text: String) -> ExactDecimal {
        guard let value = ExactDecimal(json: text) else {
            preconditionFailure("\(text) is not a number")
        }
        return value
    }

    @Test("Order, floor, ceiling and multiples are those of Python's decimal")
    func python() throws {
        for line in Self.golden.split(separator: "\n") {
            let words = line.split(separator: " ")
            try #require(words.count == 8)
            let value = try #require(ExactDecimal(json: words[0]), "\(line)")
            let other = try #require(ExactDecimal(json: words[2]), "\(line)")
            #expect((value < other) == (words[1] == "<"), "\(line)")
            #expect((value > other) == (words[1] == ">"), "\(line)")
            #expect((value == other) == (words[1] == "="), "\(line)")
            #expect((value.negated > other.negated) == (words[1] == "<"), "\(line)")
            #expect(value.floor == ExactDecimal(json: words[3]), "\(line)")
            #expect(value.ceiling == ExactDecimal(json: words[4]), "\(line)")
            #expect(value.isInteger == (words[5] == "i"), "\(line)")
            let divisor = try #require(Int(words[6]))
            #expect(value.isMultiple(of: divisor) == (words[7] == "y"), "\(line)")
            #expect(ExactDecimal(json: value.description) == value, "\(line)")
        }
    }

    @Test("Equal numbers are equal values with one text")
    func equality() {
        let table: [(texts: [String], canonical: String)] = [
            (["0", "-0", "0.0", "-0.00", "0e5", "-0E-999999999"], "0"),
            (["1", "1.0", "10e-1", "0.1E+1", "0.01e2", "1e0", "1e-0"], "1"),
            (["-120.5", "-1205e-1", "-0.1205e3", "-120.500"], "-120.5"),
            (["0.001", "1e-3", "0.0010"], "0.001"),
            (["1200", "12e2", "1.2e3"], "1200"),
            (["1.25e300", "125e298"], "1.25e300"),
            (["-1e-300", "-0.01e-298"], "-1e-300"),
        ]
        for row in table {
            #expect(Set(row.texts.map { ExactDecimal(json: $0) }).count == 1, "\(row.texts)")
            for text in row.texts {
                #expect(ExactDecimal(json: text)?.description == row.canonical, "\(text)")
            }
        }
    }

    @Test(
        "What is no JSON number is refused",
        arguments: [
            "", "-", "+1", "01", "-01", "00", ".5", "1.", "1.e5", "1e", "1e+", "1e+-1", "1 ", " 1",
            "1.5.5", "0x10", "1e5.5", "NaN", "Infinity", "١", "1_000", "--1", "1e1e1",
        ])
    func refusal(text: String) {
        #expect(ExactDecimal(json: text) == nil)
    }

    @Test("An immense exponent costs nothing and keeps the order")
    func exponents() {
        let nines = String(repeating: "9", count: 1_000)
        let rising = [
            "-1e999999999999", "-1e999999999", "-1e400", "-1", "-1e-999999999", "0",
            "1e-999999999999", "1e-999999999", "1e-400", "0.5", "9.99e999999998", "1e999999999",
            "1e999999999999",
        ].map(Self.exact)
        for (lower, higher) in zip(rising, rising.dropFirst()) {
            #expect(lower < higher)
            #expect(!(higher < lower))
        }
        #expect(ExactDecimal(json: "1e" + nines).map { $0 > Self.exact("1e999999999999") } == true)
        #expect(
            ExactDecimal(json: "1e-" + nines).map {
                $0 > Self.exact("0") && $0 < Self.exact("1e-400")
            } == true)
        let huge = Self.exact("-3e999999999")
        #expect(huge.floor == huge)
        #expect(huge.isInteger && huge.isMultiple(of: 3) && !huge.isMultiple(of: 7))
        let tiny = Self.exact("-3e-999999999")
        #expect(tiny.floor == Self.exact("-1") && tiny.ceiling == Self.exact("0"))
        #expect(!tiny.isInteger && !tiny.isMultiple(of: 1))
        #expect(!huge.isPlain && !tiny.isPlain)
        #expect(huge.description == "-3e999999999")
    }

    @Test("The text of a number has no exponent with 40 digits on either side")
    func fit() {
        let forty = String(repeating: "1", count: 40)
        #expect(ExactDecimal(json: "-\(forty).\(forty)")?.isPlain == true)
        #expect(ExactDecimal(json: "\(forty)0")?.isPlain == false)
        #expect(ExactDecimal(json: "0.0\(forty)")?.isPlain == false)
        #expect(ExactDecimal(json: "1.\(forty)000")?.isPlain == true)
        #expect(Self.exact("1e39").isPlain && !Self.exact("1e40").isPlain)
    }

    @Test("Rounding goes to the side that is asked for")
    func rounding() {
        let table: [(value: String, count: Int, up: String, down: String)] = [
            ("999.96", 4, "1000", "999.9"), ("-999.96", 4, "-999.9", "-1000"),
            ("12345", 2, "13000", "12000"), ("0.00123", 2, "0.0013", "0.0012"),
            ("12", 5, "12", "12"), ("0", 3, "0", "0"), ("-0.999", 1, "-0.9", "-1"),
        ]
        for row in table {
            let value = Self.exact(row.value)
            #expect(value.rounded(significantDigits: row.count, isUp: true).description == row.up)
            #expect(
                value.rounded(significantDigits: row.count, isUp: false).description == row.down)
        }
    }

    @Test("Numbers beyond 2^59 digits count as one number, above all others and below none")
    func beyondAll() {
        // An exponent of 18 digits is within, one of 19 is not; both are above what is written out.
        #expect(Self.exact("1e100000000000000000") < Self.exact("1e1000000000000000000"))
        #expect(
            Self.exact("1e9999999999999999999")
                == Self.exact("1e99999999999999999999"))
    }

    @Test("The value of a whole number of 64 bits, and no other")
    func whole() {
        for (text, value) in [
            ("-9223372036854775808.0", Int.min), ("92233720368547758.07e2", Int.max), ("-0.0", 0),
            ("9223372036854775808", nil), ("1e19", nil), ("1e-1", nil), ("1e999999999999", nil),
        ] as [(String, Int?)] {
            #expect(Self.exact(text).int == value, "\(text)")
        }
    }

    /// value, order, other, floor, ceiling, i if integer, divisor, y if a multiple of it. Made with
    /// Python 3's decimal at 400 digits of precision from random texts (seed 7) and, for half of the
    /// others, the same number written differently, nearly the same or negated.
    private static let golden = """
        -3e+02 < 0.0E30 -300 -300 i 13 n
        -5 = -5 -5 -5 i 4 n
        -2.9e02 = -290.0 -290 -290 i 2 y
        4.95 > -4.95 4 5 - 10 n
        -9.09E+19 < 0.10E+0 -90900000000000000000 -90900000000000000000 i 100 y
        -49922524349309023550.595 < -3.9E19 -49922524349309023551 -49922524349309023550 - 4 n
        -13.019 < 53e1 -14 -13 - 100 n
        -941.0 < 5 -941 -941 i 100 n
        3 < 3.00000000000000000001 3 3 i 9 n
        -3e3 < -0.90 -3000 -3000 i 13 n
        -4.090 < 332.5E+30 -5 -4 - 4096 n
        -1 < 9.5 -1 -1 i 11 n
        -2 = -2e+0 -2 -2 i 13 n
        9.510099050010900590 = 9.5100990500109005900 9 10 - 2 n
        -3.99 < -3.89 -4 -3 - 100 n
        -9 < -8.9 -9 -9 i 3 y
        9 > 5.00 9 9 i 10 n
        4 = 4e+0 4 4 i 11 n
        0 < 3e2 0 0 i 4 y
        -2.9 < 3.50 -3 -2 - 11 n
        -3.9 < 1 -4 -3 - 9 n
        -2.009 = -2.0090 -3 -2 - 11 n
        910022091291939592.500001509000501009 > 24.900 910022091291939592 910022091291939593 - 4 n
        2.05e+3 = 2050.0 2050 2050 i 7 n
        0.99E19 < 9900000000000000000.00001 9900000000000000000 9900000000000000000 i 11 y
        425.00 = 4.2500e+2 425 425 i 9 n
        9.5 > -5 9 10 - 100 n
        -403.500 < 403.500 -404 -403 - 9 n
        125E-19 > -0.0000000000000000125 0 1 - -6 n
        9 = 9e+0 9 9 i 2 n
        -5.9 = -5.9 -6 -5 - 100 n
        3.105990590559010100 < 393.109 3 4 - 4 n
        -2.990e+2 = -2.990e+2 -299 -299 i 100 n
        13 > -533.90e+0 13 13 i 7 n
        15.000e+3 = 15000.0 15000 15000 i 2 y
        -51.990E+0 < -51.98999999999999999999 -52 -51 - 11 n
        0 = 0.0 0 0 i 10 y
        314.0e+1 > 0 3140 3140 i 9 n
        3.9E19 = 3.9e+19 39000000000000000000 39000000000000000000 i 2 y
        -3.901110009511999009 < -3.90111000951199900899 -4 -3 - 10 n
        -1.1 = -1.1 -2 -1 - 11 n
        9.5 = 9.50 9 10 - 11 n
        0.90e02 > 59 90 90 i 4 n
        3e3 < 3000.00000000000000000001 3000 3000 i 2 y
        -213.590 < 1312991131292043411.9E1 -214 -213 - 1 n
        3.0E-0 = 3.00 3 3 i 4 n
        -53025539223100020230.90 < 0E2 -53025539223100020231 -53025539223100020230 - 7 n
        53.090901000509000090E+2 > 0E+30 5309 5310 - 5 n
        -3.59 = -3.590 -4 -3 - 5 n
        -22e1 > -12032144159053000391 -220 -220 i 1 y
        0.00 = 0 0 0 i 7 y
        -21.095 > -35.000 -22 -21 - 11 n
        93e-1 > -52.0 9 10 - 7 n
        9 < 9.00001 9 9 i 4 n
        130 = 1.30e+2 130 130 i 3 n
        -491e3 < -490999.9 -491000 -491000 i 7 n
        -5e-30 > -495 -1 -0 - 5 n
        352.000999091911910199e+3 < 45005105295400943591.9 352000 352001 - 9223372036854775807 n
        -3.51 < 92124293124314244122.90 -4 -3 - 5 n
        199.5 > -199.5 199 200 - 11 n
        2 < 32.010 2 2 i 3 n
        2E-0 = 2e+0 2 2 i 5 n
        342e-19 > -22042413424112493110e+0 0 1 - 2 n
        39.0 > -39.0 39 39 i 100 n
        15.0 = 15.0 15 15 i 4096 n
        -92199450995301110009 < 30.00E2 -92199450995301110009 -92199450995301110009 i 5 n
        5 > -5 5 5 i 10 n
        -429.01e+1 < 3 -4291 -4290 - -6 n
        -20.509500000999095090 = -20.509500000999095090 -21 -20 - 7 n
        -5.000 < 1E1 -5 -5 i -6 n
        -32.0E+0 < 514e2 -32 -32 i 13 n
        5.599559105551559105e+3 > 3.555001999091995510 5599 5600 - 7 n
        930.05 = 930.050 930 931 - 2 n
        415.5 > -151.5 415 416 - 7 n
        23.0 < 42.599 23 23 i -6 n
        111e+19 = 1.11e+21 1110000000000000000000 1110000000000000000000 i 7 n
        329.11 = 329.110 329 330 - 4096 n
        -35.1 < -23.5 -36 -35 - 3 n
        9.109 = 9.109 9 10 - 4 n
        0 = 0 0 0 i 11 y
        0.500015009199100909e+2 > 42e-3 50 51 - -6 n
        -2e3 < 2000 -2000 -2000 i 13 n
        -0.915019999905555950E-30 < 3 -1 -0 - 100 n
        -9.100 < 3440909934533005344 -10 -9 - 3 n
        400e-0 > -9.0 400 400 i 5 y
        3e+30 = 3e+30 3000000000000000000000000000000 3000000000000000000000000000000 i 4096 y
        54 = 54 54 54 i 4096 n
        -0 = -0.0 -0 -0 i 5 y
        9 < 351.0 9 9 i 3 y
        339 = 339.0 339 339 i 5 n
        """
}
