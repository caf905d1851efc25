import Testing

@testable import SkeinBasics

@Suite struct OptionTableTests {
    struct Speed: OptionTable {
        let threads = Option("threads", .integer(1...8), default: "2", "threads that compute")
        let limit = Option.optional("time-limit", .duration, "when to stop").namedOnlyWhenGiven()
        let quiet = Option.flag("quiet", "say nothing")

        static let table = Speed()
        static let options = list(table)
    }

    @Test("a property declares an option: its default, its values in code and in text")
    func values() throws {
        var speed = OptionValues<Speed>()
        #expect(speed.threads == 2 && speed.limit == nil && !speed.quiet)
        speed.threads = 3
        speed.limit = .seconds(90)
        #expect(speed.threads == 3 && speed.limit == .seconds(90))
        #expect(speed.fields.map { $0.1.optionText } == ["3", "90s", "off"])
        let options = Speed.options
        #expect(options.map(\.description.name) == ["threads", "time-limit", "quiet"])
        #expect(speed.set(options[0], to: "4") && speed.set(options[2], to: "true"))
        #expect(speed.threads == 4 && speed.quiet)
        let before = speed
        #expect(!speed.set(options[0], to: "9") && !speed.set(options[1], to: "soon"))
        #expect(speed == before)
        speed.limit = nil
        #expect(speed.limit == nil && speed != before)
    }

    @Test("an option that is named only when given appears nowhere without a value")
    func namedOnlyWhenGiven() {
        var speed = OptionValues<Speed>()
        #expect(speed.fields.map(\.0) == ["threads", "quiet"])
        speed.limit = .zero
        #expect(speed.fields.map(\.0) == ["threads", "time-limit", "quiet"])
    }

    @Test("values set in code are judged by the option's own format")
    func refused() {
        var speed = OptionValues<Speed>()
        #expect(speed.firstRefused == nil)
        speed.threads = 0
        #expect(speed.firstRefused?.option.name == "threads")
        #expect(speed.firstRefused?.text == "0")
    }

    @Test("a default, given or not, is the same value")
    func equality() {
        var speed = OptionValues<Speed>()
        speed.threads = 2
        #expect(speed == OptionValues<Speed>())
    }
}
