import Foundation

/// What launch learns from a line of its coordinator.
enum CoordinatorLine: Equatable {
    case listening(address: String)
    /// A step was done.
    case step
    case other

    /// Reads a line of text, or a JSON object of `--log-format json`.
    init(_ line: String) {
        if line.hasPrefix("{") {
            self = Self.json(line)
        } else if let address = ListeningLine.address(in: line) {
            self = .listening(address: address)
        } else {
            self = line.hasPrefix("step ") ? .step : .other
        }
    }

    private static func json(_ line: String) -> CoordinatorLine {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: Data(line.utf8))
        } catch {
            return .other
        }
        guard let object = value as? [String: Any], let message = object["message"] as? String
        else { return .other }
        if let address = ListeningLine.address(in: message) { return .listening(address: address) }
        return message == "step" || message.hasPrefix("step ") ? .step : .other
    }
}
