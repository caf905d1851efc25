/// A moment as HTTP writes it (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter seconds: since 1970.
    /// - Returns: the moment's name, of 29 characters.
    static func text(_ seconds: Int) -> String {
        let seconds = max(0, seconds)
        let (day, second) = seconds.quotientAndRemainder(dividingBy: 86400)
        // The calendar by eras of 400 years that begin in March, so that a leap day is a year's last
        // (Howard Hinnant, "chrono-compatible low-level date algorithms").
        let shifted = day + 719_468
        let (era, ofEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * ofYear + 2) / 153
        let date = ofYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        return "\(days[day % 7]), \(two(date)) \(months[(month + 2) % 12]) \(year) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }
}
