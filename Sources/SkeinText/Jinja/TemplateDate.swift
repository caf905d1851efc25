/// The day that a template sees as today (`strftime_now`), at midnight.
package struct TemplateDate: Sendable, Equatable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// The day that Llama 3.2's template itself uses when it finds no clock. It is the default
    /// everywhere: a run's data must not depend on the day of the run.
    package static let documentedFallback = TemplateDate(checkedYear: 2024, month: 7, day: 26)

    /// A day of the Gregorian calendar, nil when there is no such day. Years 1 to 9999.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month) else { return nil }
        guard (1...Self.days(in: month, of: year)).contains(day) else { return nil }
        self.init(checkedYear: year, month: month, day: day)
    }

    private init(checkedYear year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day in C's `strftime` notation (English names, the C locale), or the directive that is
    /// not supported. Texts between directives pass through.
    func formatted(_ format: String) -> Result<String, UnknownDirective> {
        var result = ""
        var scalars = format.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "%" else {
                result.unicodeScalars.append(scalar)
                continue
            }
            guard let directive = scalars.next() else {
                return .failure(UnknownDirective(text: "%"))
            }
            guard let text = field(directive) else {
                return .failure(UnknownDirective(text: "%\(directive)"))
            }
            result += text
        }
        return .success(result)
    }

    struct UnknownDirective: Error {
        var text: String
    }

    private func field(_ directive: Unicode.Scalar) -> String? {
        switch directive {
        case "Y": return padded(year, 4)
        case "y": return padded(year % 100, 2)
        case "m": return padded(month, 2)
        case "d": return padded(day, 2)
        case "B": return Self.months[month - 1]
        case "b", "h": return String(Self.months[month - 1].prefix(3))
        case "A": return Self.weekdays[weekday]
        case "a": return String(Self.weekdays[weekday].prefix(3))
        case "j": return padded(dayOfYear, 3)
        case "F": return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        case "H", "M", "S": return "00"
        case "I": return "12"
        case "p": return "AM"
        case "%": return "%"
        default: return nil
        }
    }

    private func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private var dayOfYear: Int {
        (1..<month).reduce(day) { $0 + Self.days(in: $1, of: year) }
    }

    /// 0 is Sunday. Days since 31 December of the year 0, which was a Sunday.
    private var weekday: Int {
        let before = year - 1
        return (before * 365 + before / 4 - before / 100 + before / 400 + dayOfYear) % 7
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]
    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
}
