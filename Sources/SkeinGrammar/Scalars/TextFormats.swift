/// The formats of JSON Schema that a model can be held to, each as a regular expression for the
/// whole text.
///
/// Each is sound rather than complete: whatever matches is accepted by RFC 3339, 4122, 5321, 1123,
/// 4291 or 3986 and by Python's `jsonschema` with its format checkers, but some valid texts (a leap
/// second, an address in quotation marks, a host in brackets) do not match.
enum TextFormat: String, CaseIterable, Sendable {
    case date
    case time
    case dateTime = "date-time"
    case duration
    case uuid
    case email
    case hostname
    case ipv4
    case ipv6
    case uri

    /// For `ScalarMachine(_:matchesWhole: true)`.
    var pattern: String {
        switch self {
        case .date: Self.fullDate
        case .time: Self.fullTime
        case .dateTime: Self.fullDate + "T" + Self.fullTime
        case .duration: Self.isoDuration
        case .uuid: "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
        case .email: Self.mailbox
        case .hostname: Self.host
        case .ipv4: Self.ipv4Address
        case .ipv6: Self.ipv6Address
        case .uri: Self.uriWithScheme
        }
    }

    // MARK: Dates and times (RFC 3339)

    /// Years 0001 to 9999, as Python knows no year 0; 29 February in leap years only.
    private static let fullDate: String = {
        let year = "(?:000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d{3})"
        // Two digits that are a multiple of 4, without 00.
        let fourth = "(?:0[48]|[2468][048]|[13579][26])"
        let day31 = "(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])"
        let day30 = "(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)"
        let day28 = "02-(?:0[1-9]|1\\d|2[0-8])"
        return "(?:\(year)-(?:\(day31)|\(day30)|\(day28))|(?:\\d\\d\(fourth)|\(fourth)00)-02-29)"
    }()

    /// Without second 60; at most 6 digits of a second, as in Python's `datetime`.
    private static let fullTime: String = {
        let minutes = "(?:[01]\\d|2[0-3]):[0-5]\\d"
        return "\(minutes):[0-5]\\d(?:\\.\\d{1,6})?(?:Z|[+-]\(minutes))"
    }()

    /// RFC 3339, appendix A: units follow each other without a gap, weeks stand alone.
    private static let isoDuration: String = {
        let number = "\\d{1,6}"
        let second = "\(number)S"
        let minute = "\(number)M(?:\(second))?"
        let time = "T(?:\(number)H(?:\(minute))?|\(minute)|\(second))"
        let day = "\(number)D"
        let month = "\(number)M(?:\(day))?"
        let year = "\(number)Y(?:\(month))?"
        return "P(?:(?:\(year)|\(month)|\(day))(?:\(time))?|\(time)|\(number)W)"
    }()

    // MARK: Hosts and addresses

    /// At most 61 characters, so that four of them stay below 253; never two hyphens in a row, as
    /// `xn--` has a meaning.
    private static let label = "[A-Za-z0-9](?:-?[A-Za-z0-9]){0,30}"

    /// One to four labels. The last one begins with a letter, so it is no IPv4 address, and has two
    /// characters or more.
    private static let host = "(?:\(label)\\.){0,3}[A-Za-z](?:-?[A-Za-z0-9]){1,30}"

    /// Words with dots between them, 62 characters at most, at a host of two or three labels whose
    /// last one has letters only, which is what the stricter checkers want.
    private static let mailbox: String = {
        let atom = "[A-Za-z0-9_+-]{1,20}"
        return "\(atom)(?:\\.\(atom)){0,2}@(?:\(label)\\.){1,2}[A-Za-z]{2,24}"
    }()

    private static let ipv4Address: String = {
        let byte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
        return "\(byte)(?:\\.\(byte)){3}"
    }()

    /// Eight groups, or fewer of them with `::` for one or more.
    private static let ipv6Address: String = {
        let group = "[0-9a-fA-F]{1,4}"
        var forms = [
            "(?:\(group):){7}\(group)", "(?:\(group):){1,7}:", ":(?::\(group)){1,7}", "::",
        ]
        for before in 1...6 {
            forms.append("(?:\(group):){\(before)}(?::\(group)){1,\(7 - before)}")
        }
        return "(?:\(forms.joined(separator: "|")))"
    }()

    // MARK: RFC 3986

    /// A scheme and then a host with a port and a path, or a path alone.
    private static let uriWithScheme: String = {
        let character = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
        let authority = "//\(host)(?::[1-9]\\d{0,3})?(?:/\(character)*)*"
        let path = "\(character)+(?:/\(character)*)*"
        let more = "(?:\(character)|[/?])*"
        return "[A-Za-z][A-Za-z0-9+.-]{0,15}:(?:\(authority)|\(path))(?:\\?\(more))?(?:#\(more))?"
    }()
}
