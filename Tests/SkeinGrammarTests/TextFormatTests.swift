import Testing

@testable import SkeinGrammar

@Suite("Formats of texts")
struct TextFormatTests {
    static let accepted: [(TextFormat, String)] = [
        (.date, "2024-02-29"), (.date, "2000-02-29"), (.date, "0001-01-01"),
        (.date, "0004-02-29"), (.date, "9999-12-31"), (.date, "1900-02-28"),
        (.time, "00:00:00Z"), (.time, "23:59:59.999999+23:59"),
        (.dateTime, "2024-02-29T12:30:00-08:00"),
        (.duration, "P1Y2M3DT4H5M6S"), (.duration, "PT5S"), (.duration, "P3W"),
        (.duration, "P1M"), (.duration, "PT1M"),
        (.uuid, "123e4567-E89B-12d3-a456-426614174000"),
        (.email, "a.b+c@example.co.uk"), (.hostname, "localhost"), (.hostname, "a-b.example"),
        (.ipv4, "0.0.0.0"), (.ipv4, "255.249.199.99"),
        (.ipv6, "::"), (.ipv6, "::1"), (.ipv6, "1::"), (.ipv6, "1:2:3:4:5:6:7:8"),
        (.ipv6, "2001:db8::ff00:42:8329"), (.ipv6, "1:2:3:4:5:6:7::"), (.ipv6, "::2:3:4:5:6:7:8"),
        (.uri, "https://example.com:8080/a%20b?c=d#e"), (.uri, "mailto:a@example.com"),
        (.uri, "urn:isbn:0451450523"), (.uri, "ftp://host/"),
    ]

    static let refused: [(TextFormat, String)] = [
        (.date, "2023-02-29"), (.date, "1900-02-29"), (.date, "0000-01-01"),
        (.date, "0000-02-29"), (.date, "2024-04-31"), (.date, "2024-13-01"),
        (.date, "2024-00-10"), (.date, "2024-01-00"), (.date, "2024-1-1"), (.date, ""),
        (.date, "x2024-01-01"), (.date, "2024-01-01\n"),
        (.time, "24:00:00Z"), (.time, "23:59:60Z"), (.time, "12:00:00"), (.time, "12:00:00.Z"),
        (.dateTime, "2024-02-29 12:30:00Z"), (.dateTime, "2023-02-29T12:30:00Z"),
        (.duration, "P"), (.duration, "PT"), (.duration, "P1Y2D"), (.duration, "P1WT1H"),
        (.duration, "P1DT"), (.uuid, "123e4567e89b12d3a456426614174000"),
        (.email, "a@b"), (.email, ".a@example.com"), (.email, "a..b@example.com"),
        (.email, "a b@example.com"), (.hostname, "-a"), (.hostname, "a-.b"),
        (.hostname, "1.2.3.4"), (.hostname, "xn--a.example"),
        (.ipv4, "256.0.0.1"), (.ipv4, "01.0.0.1"), (.ipv4, "1.2.3"), (.ipv4, "1.2.3.4.5"),
        (.ipv6, "1:2:3:4:5:6:7"), (.ipv6, "1::2::3"), (.ipv6, ":::"), (.ipv6, "12345::"),
        (.ipv6, "1:2:3:4:5:6:7:8::"), (.uri, "example.com/a"), (.uri, "http://"),
        (.uri, "a:b c"), (.uri, "a:%2"),
    ]

    static func machine(_ format: TextFormat) throws -> ScalarMachine {
        try ScalarMachine(PatternParser.parse(format.pattern).tree, matchesWhole: true)
    }

    @Test("Valid texts match", arguments: accepted)
    func matches(format: TextFormat, text: String) throws {
        #expect(try Self.machine(format).contains(text))
    }

    @Test("Invalid texts do not", arguments: refused)
    func differs(format: TextFormat, text: String) throws {
        #expect(try !Self.machine(format).contains(text))
    }

    @Test("29 February is in leap years only, and every month has its days")
    func calendar() throws {
        let machine = try Self.machine(.date)
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        func padded(_ number: Int, _ width: Int) -> String {
            String(String(10_000 + number).suffix(width))
        }
        for year in 0...9999 {
            let isLeap = year > 0 && (year % 4 == 0 && year % 100 != 0 || year % 400 == 0)
            #expect(machine.contains("\(padded(year, 4))-02-29") == isLeap, "\(year)")
        }
        for month in 0...13 {
            let days = (1...12).contains(month) ? lengths[month - 1] : 0
            for day in 0...32 {
                let text = "2023-\(padded(month, 2))-\(padded(day, 2))"
                let exists = day >= 1 && day <= days
                #expect(machine.contains(text) == exists, "\(text)")
            }
        }
    }

    @Test("Each format has a small machine", arguments: TextFormat.allCases)
    func size(format: TextFormat) throws {
        let machine = try Self.machine(format)
        #expect(!machine.isEmpty)
        #expect(machine.states.count < 1000)
    }
}
