import Testing

@testable import SkeinGrammar

@Suite("Networks of numbers, large and close bounds")
struct NumberLimitsTests {
    /// Texts that a network has to write, and texts that it must not.
    struct Case: Sendable, CustomTestStringConvertible {
        var bounds: NumberBounds
        var yes: [String]
        var no: [String]

        var testDescription: String { "\(bounds)" }
    }

    private static let nines15 = String(repeating: "9", count: 15)
    private static let zeros16 = String(repeating: "0", count: 16)

    private static let integers: [Case] = [
        Case(
            bounds: NumberBounds(isInteger: true),
            yes: [
                "0", "7", "-1", "10", "9223372036854775807", "-9223372036854775808",
                "1000000000000000000", "999999999999999999",
            ],
            no: [
                "-0", "00", "01", "+1", "1.0", "1e5", "9223372036854775808", "-9223372036854775809",
                "10000000000000000000", "", "-", "1 ", "0.0", "9300000000000000000",
            ]),
        Case(
            bounds: NumberBounds(minimum: "-5", isInteger: true),
            yes: ["-5", "0", "9223372036854775807"], no: ["-6", "-10", "9223372036854775808"]),
        Case(
            bounds: NumberBounds(maximum: "5", isInteger: true),
            yes: ["5", "-9223372036854775808"], no: ["6", "10", "-9223372036854775809"]),
        Case(
            bounds: NumberBounds(maximum: "18446744073709551615", isInteger: true),
            yes: ["18446744073709551615", "-9223372036854775808"],
            no: ["18446744073709551616", "-9223372036854775809"]),
        Case(
            bounds: NumberBounds(
                minimum: "9223372036854775807", isMinimumExclusive: true, isInteger: true),
            yes: ["9223372036854775808", "99999999999999999999"],
            no: ["9223372036854775807", "100000000000000000000"]),
        Case(
            bounds: NumberBounds(minimum: "9223372036854775807", isInteger: true),
            yes: ["9223372036854775807"], no: ["9223372036854775808"]),
        Case(
            bounds: NumberBounds(maximum: "-1e30", isInteger: true),
            yes: ["-1000000000000000000000000000000", "-99999999999999999999999999999999"],
            no: ["-999999999999999999999999999999", "-100000000000000000000000000000000"]),
        Case(
            bounds: NumberBounds(minimum: "-1e308", maximum: "1.8e308", isInteger: true),
            yes: ["9223372036854775807", "-9223372036854775808"],
            no: ["9223372036854775808", "-9223372036854775809"]),
        Case(
            bounds: NumberBounds(
                minimum: "-2.5", maximum: "3", isMinimumExclusive: true, isMaximumExclusive: true,
                isInteger: true),
            yes: ["-2", "-1", "0", "1", "2"], no: ["-3", "3"]),
        Case(
            bounds: NumberBounds(divisor: 4096),
            yes: ["0", "4096", "-8192", "9223372036854771712", "-9223372036854775808"],
            no: ["4095", "-0", "9223372036854775808", "409"]),
        Case(
            bounds: NumberBounds(minimum: "-1.1", divisor: "0.25"),
            yes: ["-1", "-1.0", "-1.00", "-0.25", "0.5", "0.50", "7", "99999999999999.5", "1.75"],
            no: ["-1.25", "0.1", "0.250", "0.55", "1.7", "-0", "-0.00", "1.000"]),
        Case(
            bounds: NumberBounds(divisor: "0.01"),
            yes: ["-1", "0.01", "0.1", "0.10", "123.45"], no: ["0.001", "0.010"]),
        Case(
            bounds: NumberBounds(divisor: "0.75", isInteger: true),
            yes: ["0", "3", "-6"], no: ["1", "1.5", "4", "0.0"]),
        Case(
            bounds: NumberBounds(minimum: "9223372036854775807", divisor: 10),
            yes: ["9223372036854775810", "99999999999999999990"], no: ["9223372036854775807", "0"]),
    ]

    private static let decimals: [Case] = [
        Case(
            bounds: NumberBounds(),
            yes: [
                "0", "0.0", "0." + zeros16, "0.0000000000000001", "-0.0000000000000001", nines15,
                "-" + nines15, "1.50", "3.00", "-12345.0123456789", "0.0123456789012345",
                "0.123456789012345",
            ],
            no: [
                "-0", "-0.0", "-0." + zeros16, "0.0" + zeros16, "1" + nines15, "1e5", "1.", ".5",
                "01",
                "00.1", "+1", "1.234567890123456", nines15 + ".0", "0.1234567890123456",
                "0.12345678901234567", "--1", "1.2.3", "-",
            ]),
        Case(
            bounds: NumberBounds(minimum: "0.5", isMinimumExclusive: true),
            yes: ["0.500000001", "0.51", "1", "0.500000000000001", nines15],
            no: ["0.5", "0.50", "0.500", "0.4", "0", "-1", "0.500000000000000"]),
        Case(
            bounds: NumberBounds(maximum: "1.25"),
            yes: ["1.25", "1.250", "1.2499", "1", "0.0", "-100.5", "-" + nines15],
            no: ["1.2501", "1.26", "1.3", "2", "10"]),
        Case(
            bounds: NumberBounds(minimum: "3", maximum: "3"), yes: ["3", "3.0", "3.00"],
            no: ["3.01", "2.99", "30", "-3", "3."]),
        Case(
            bounds: NumberBounds(minimum: "-0.25", maximum: "0", isMaximumExclusive: true),
            yes: ["-0.25", "-0.250", "-0.1", "-0.0001"],
            no: ["0", "0.0", "-0", "-0.0", "-0.251", "-1"]),
        Case(
            bounds: NumberBounds(minimum: "0", maximum: "0"), yes: ["0", "0.0", "0.000"],
            no: ["-0", "-0.0", "0.1", "-0.1"]),
        Case(
            bounds: NumberBounds(
                minimum: "123456789.01234", maximum: "123456789.01236", isMinimumExclusive: true,
                isMaximumExclusive: true),
            yes: ["123456789.01235", "123456789.012341", "123456789.012359"],
            no: ["123456789.01234", "123456789.01236", "123456789.0123401", "123456789"]),
        Case(
            bounds: NumberBounds(minimum: "1e-20", maximum: "2e-20"),
            yes: ["0.00000000000000000001", "0.00000000000000000001999", "0.00000000000000000002"],
            no: ["0", "0.00000000000000000003", "0.000000000000000000019999"]),
        Case(
            bounds: NumberBounds(minimum: "1e20"),
            yes: ["100000000000000000000", "9999999999999990000000", "123456789012345000000"],
            no: ["100000000000000000001", "10000000000000000000000", "99999999999999900000", "1"]),
        // More than 15 significant digits: rounded inwards.
        Case(
            bounds: NumberBounds(maximum: "0.30000000000000004", isMaximumExclusive: true),
            yes: ["0.299999999999999", "0"], no: ["0.3", "0.300000000000001", "0.4"]),
        Case(
            bounds: NumberBounds(minimum: "-9223372036854775808", maximum: "9223372036854775807"),
            yes: ["9223372036854770000", "-9223372036854770000", "0.5"],
            no: ["9223372036854775807", "9223372036854780000", "9223372036854770000.0"]),
        Case(
            bounds: NumberBounds(minimum: "-1.8e308", maximum: "1.8e308"),
            yes: [nines15, "-" + nines15], no: ["1" + zeros16]),
        Case(
            bounds: NumberBounds(minimum: "5e-324", isMinimumExclusive: true),
            yes: ["0.1", "1", "0.0000000000000001"], no: ["0", "0.0", "-1"]),
        Case(
            bounds: NumberBounds(maximum: "-9e39"),
            yes: ["-9" + String(repeating: "0", count: 39)],
            no: [
                "-1" + String(repeating: "0", count: 40), "-8" + String(repeating: "9", count: 39),
            ]),
    ]

    @Test("Chosen texts are written or not", arguments: integers + decimals)
    func table(row: Case) throws {
        let network = try NumberTexts(row.bounds)
        for text in row.yes { #expect(network.accepts(text), "\(text)") }
        for text in row.no { #expect(!network.accepts(text), "\(text)") }
        #expect(network.uselessNodes.isEmpty)
        #expect(network.isDeterministic)
        let limit = (row.bounds.divisor?.value ?? 1) * 45 + 400
        #expect(network.nodeCount < limit, "\(network.nodeCount) nodes")
    }

    @Test(
        "Bounds without a number are refused, and nothing is written",
        arguments: [
            NumberBounds(minimum: "2", maximum: "1"),
            NumberBounds(minimum: "-1", maximum: "-2", isInteger: true),
            NumberBounds(minimum: "1", maximum: "1", isMaximumExclusive: true),
            NumberBounds(
                minimum: "4", maximum: "5", isMinimumExclusive: true, isMaximumExclusive: true,
                isInteger: true),
            NumberBounds(minimum: "1", maximum: "6", divisor: 7),
            NumberBounds(minimum: "4097", maximum: "8191", divisor: 4096),
            NumberBounds(
                minimum: "0.123456789012345", maximum: "0.123456789012346",
                isMinimumExclusive: true, isMaximumExclusive: true),
            NumberBounds(minimum: "0.30000000000000004", maximum: "0.30000000000000004"),
        ])
    func empty(bounds: NumberBounds) {
        var builder = NetworkBuilder()
        let from = builder.node()
        let to = builder.node()
        #expect(throws: NumberFlaw.empty) { try builder.number(bounds, from: from, to: to) }
        #expect(builder.edges == [[], []] && builder.skips == [[], []])
    }

    @Test("Bounds beyond the limits are refused by name")
    func flaws() {
        #expect(throws: NumberFlaw.bound("1e40")) {
            try NumberTexts(NumberBounds(minimum: "1e40"))
        }
        #expect(throws: NumberFlaw.bound("-1e999999999")) {
            try NumberTexts(NumberBounds(maximum: "-1e999999999", isInteger: true))
        }
    }

    @Test("More nodes than a network may have end the writing early")
    func tooLarge() throws {
        var builder = NetworkBuilder()
        while builder.edges.count < GrammarLimits.nodes - 1_000 { _ = builder.node() }
        try builder.number(NumberBounds(divisor: 4093), from: 0, to: 1)
        #expect(builder.isTooLarge)
        #expect(builder.edges.count == GrammarLimits.nodes)
    }

    @Test("A network stays small")
    func sizes() throws {
        let table: [(bounds: NumberBounds, most: Int)] = [
            (NumberBounds(isInteger: true), 60), (NumberBounds(), 150),
            (NumberBounds(minimum: "0", isInteger: true), 40),
            (NumberBounds(minimum: "-120", maximum: "137", isInteger: true), 16),
            (NumberBounds(minimum: "0", maximum: "1"), 50),
            (NumberBounds(divisor: 4096), 80_000), (NumberBounds(divisor: 100), 2_100),
            (NumberBounds(divisor: "0.511"), 20_000), (NumberBounds(divisor: "0.5"), 200),
        ]
        for row in table {
            let count = try NumberTexts(row.bounds).nodeCount
            #expect(count <= row.most, "\(row.bounds): \(count)")
        }
    }
}
