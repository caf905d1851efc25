/// The hosts that a list of Slurm's stands for: `n[1-3,07],rack[1-2]n[1-4],login`. Pure.
///
/// A range keeps the width of its first number: `n[08-10]` is n08, n09, n10.
package struct HostList: Sendable, Equatable {
    /// Why a text is no such list.
    package struct Problem: Error, Equatable {
        package var reason: String

        /// A sentence about the variable that holds the list.
        package func sentence(of variable: String) -> String {
            "\(variable) is not a list of hosts: \(reason)"
        }
    }

    /// More hosts than any machine has.
    static let mostHosts = 65536
    static let mostBytes = 1 << 16
    /// Longer names are none (RFC 1035), and 65,536 of them would take gigabytes.
    static let mostNameBytes = 253

    package let hosts: [String]

    /// - Throws: `Problem`.
    package init(_ text: String) throws(Problem) {
        guard text.utf8.count <= Self.mostBytes else {
            throw Problem(reason: "it has more than \(Self.mostBytes) bytes")
        }
        var hosts: [String] = []
        for pattern in try Self.patterns(text) {
            for host in try Self.expanded(pattern) { hosts.append(host) }
            guard hosts.count <= Self.mostHosts else { throw Self.tooMany }
        }
        self.hosts = hosts
    }

    private static let tooMany = Problem(reason: "it names more than \(mostHosts) hosts")

    /// Splits at the commas outside of brackets.
    private static func patterns(_ text: String) throws(Problem) -> [Substring] {
        var patterns: [Substring] = []
        var isInside = false
        var start = text.startIndex
        for index in text.indices {
            switch text[index] {
            case "[":
                if isInside { throw Problem(reason: "brackets in brackets") }
                isInside = true
            case "]":
                if !isInside { throw Problem(reason: "a bracket is closed that was not opened") }
                isInside = false
            case ",":
                if isInside { continue }
                patterns.append(text[start..<index])
                start = text.index(after: index)
            case let letter:
                guard letter.isASCII, letter.isLetter || letter.isNumber || "._-".contains(letter)
                else { throw Problem(reason: "a character that no host has") }
            }
        }
        if isInside { throw Problem(reason: "a bracket is not closed") }
        patterns.append(text[start...])
        return patterns
    }

    private static func expanded(_ pattern: Substring) throws(Problem) -> [String] {
        guard !pattern.isEmpty else { throw Problem(reason: "a name is empty") }
        var fixed = 0
        var depth = 0
        for letter in pattern.utf8 {
            if letter == UInt8(ascii: "[") { depth += 1 }
            if depth == 0 { fixed += 1 }
            if letter == UInt8(ascii: "]") { depth -= 1 }
        }
        guard fixed <= mostNameBytes else {
            throw Problem(reason: "a name has more than \(mostNameBytes) bytes")
        }
        var names = [""]
        var rest = pattern
        while let open = rest.firstIndex(of: "["), let close = rest.firstIndex(of: "]") {
            let head = rest[..<open]
            var longer: [String] = []
            for number in try numbers(rest[rest.index(after: open)..<close]) {
                guard longer.count + names.count <= mostHosts else { throw tooMany }
                longer += names.map { $0 + head + number }
            }
            names = longer
            rest = rest[rest.index(after: close)...]
        }
        return names.map { $0 + rest }
    }

    /// `1-3,07` as 1, 2, 3, 07.
    private static func numbers(_ text: Substring) throws(Problem) -> [String] {
        var numbers: [String] = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = item.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = ends.first, let last = ends.last,
                (1...9).contains(first.count), (1...9).contains(last.count),
                ends.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
                let low = Int(first), let high = Int(last)
            else { throw Problem(reason: "\"\(item.prefix(40))\" is neither a number nor a range") }
            guard low <= high else {
                throw Problem(reason: "the range \(item) ends before it begins")
            }
            guard high - low < mostHosts - numbers.count else { throw tooMany }
            for number in low...high {
                let digits = String(number)
                numbers.append(
                    String(repeating: "0", count: max(0, first.count - digits.count)) + digits)
            }
        }
        return numbers
    }
}
