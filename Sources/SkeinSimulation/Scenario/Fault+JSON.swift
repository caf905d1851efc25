import SkeinBasics
import SkeinJSON

// A line of a file of faults: {"at":12.5,"who":"w3","what":"stop","seconds":2.1}

extension Fault {
    package var json: JSONValue {
        var fields: [JSONField] = [
            JSONField(name: "at", value: .decimal(at)),
            JSONField(name: "who", value: .text(who.text)),
            JSONField(name: "what", value: .text(what.rawValue)),
        ]
        if seconds != 0 { fields.append(JSONField(name: "seconds", value: .decimal(seconds))) }
        if number != 0 { fields.append(JSONField(name: "number", value: .integer(number))) }
        return .object(fields)
    }

    /// - Returns: nil for what is no fault.
    init?(_ json: JSONValue) {
        guard let at = json["at"]?.double, at >= 0, at <= 1e6,
            let who = json["who"]?.string.flatMap({ Who($0) }),
            let what = json["what"]?.string.flatMap({ What(rawValue: $0) })
        else { return nil }
        (self.at, self.who, self.what) = (at, who, what)
        if let found = json["seconds"] {
            guard let seconds = found.double, seconds >= 0, seconds <= 1e6 else { return nil }
            self.seconds = seconds
        }
        if let found = json["number"] {
            guard let number = found.integer, (-500_000...500_000).contains(number) else {
                return nil
            }
            self.number = number
        }
    }

    /// Reads a file of faults.
    ///
    /// - Parameters:
    ///   - bytes: a fault a line.
    ///   - path: for errors.
    /// - Returns: its faults, in the order of their times.
    /// - Throws: `ScenarioError.badFault`.
    package static func list(_ bytes: [UInt8], path: String) throws -> [Fault] {
        try bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated().compactMap { number, line in
                if line.allSatisfy({ $0 == UInt8(ascii: " ") }) { return nil }
                // The line is told, and that says enough.
                guard let json = try? JSONReader.read(Array(line), .foundation),
                    let fault = Fault(json)
                else { throw ScenarioError.badFault(path: path, line: number + 1) }
                return fault
            }
            .sorted { $0.at < $1.at }
    }
}

extension Fault.Who {
    var text: String {
        switch self {
        case .coordinator: "coordinator"
        case .worker(let index): "w\(index)"
        case .stranger: "stranger"
        }
    }

    init?(_ text: String) {
        switch text {
        case "coordinator": self = .coordinator
        case "stranger": self = .stranger
        default:
            guard text.first == "w", let index = Int(text.dropFirst()), (0..<1024).contains(index)
            else { return nil }
            self = .worker(index)
        }
    }
}

/// What is wrong with a scenario that was asked for.
package enum ScenarioError: Error, Equatable {
    case badFault(path: String, line: Int)
}

extension ScenarioError: Explained {
    package var explanation: Explanation {
        switch self {
        case .badFault(let path, let line):
            Explanation(
                what: "line \(line) is no fault", place: path,
                remedy: "write a line for each fault, such as "
                    + #"{"at":12.5,"who":"w3","what":"stop","seconds":2.1}; what is one of "#
                    + Fault.What.allCases.map(\.rawValue).joined(separator: ", "),
                status: .usage)
        }
    }
}
