import Foundation
import SkeinBasics
import SkeinJSON

/// What a parent learns from a line of its coordinator.
package enum CoordinatorLine: Equatable {
    case listening(address: String)
    /// A worker of this name has joined.
    case joined(name: String)
    /// A step was done.
    case step
    case other

    /// Reads a line of text, or a JSON object of `--log-format json`.
    package init(_ line: String) {
        if line.hasPrefix("{") {
            self = Self.json(line)
        } else {
            self = Self.text(line)
        }
    }

    private static func text(_ line: String) -> CoordinatorLine {
        if let address = ListeningLine.address(in: line) { return .listening(address: address) }
        if let name = JoinedLine.name(in: line) { return .joined(name: name) }
        return line.hasPrefix("step ") ? .step : .other
    }

    private static func json(_ line: String) -> CoordinatorLine {
        let value: JSONValue
        do {
            value = try JSONReader.read(Array(line.utf8), .foundation)
        } catch {
            // A line of another program; it is passed on unchanged.
            return .other
        }
        guard let message = value["message"]?.string else { return .other }
        return message == "step" ? .step : text(message)
    }
}

/// A coordinator's line about a worker that has joined: `worker w1 (10.0.0.7:40112) joins with 8
/// threads`.
enum JoinedLine {
    /// The worker's name, or nil for any other line.
    static func name(in line: String) -> String? {
        guard line.hasPrefix("worker "), let end = line.range(of: " ("),
            line[end.upperBound...].contains(") joins with ")
        else { return nil }
        return String(line[..<end.lowerBound].dropFirst("worker ".count))
    }
}

/// A coordinator's line with its address, for the process that started it.
package enum ListeningLine {
    private static let beginning = "listening on "

    package static func text(address: String) -> String { beginning + address }

    /// The address in a line of text, or nil for any other line.
    static func address(in line: String) -> String? {
        guard line.hasPrefix(beginning) else { return nil }
        return Endpoint(String(line.dropFirst(beginning.count)))?.text
    }
}
