/// Metrics as Prometheus reads them (text exposition format 0.0.4). Pure.
package struct MetricsText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""

    package init() {}

    package mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    package mutating func sample(
        _ name: String, _ labels: [(String, String)] = [], _ value: Double
    ) {
        sample(name, labels, spelled: Self.number(value))
    }

    private mutating func sample(
        _ name: String, _ labels: [(String, String)] = [], spelled value: String
    ) {
        let inside = labels.map { "\($0)=\"\(Self.escaped($1))\"" }
        text += name + (inside.isEmpty ? "" : "{" + inside.joined(separator: ",") + "}")
        text += " " + value + "\n"
    }

    package mutating func single(
        _ name: String, _ type: String, _ help: String, _ value: Double?
    ) {
        guard let value else { return }
        family(name, type, help)
        sample(name, [], value)
    }

    package mutating func single(_ name: String, _ type: String, _ help: String, _ value: Int) {
        family(name, type, help, [([], value)])
    }

    /// A family of numbers that are counted.
    package mutating func family(
        _ name: String, _ type: String, _ help: String,
        _ samples: [(labels: [(String, String)], value: Int)]
    ) {
        family(name, type, help)
        for (labels, value) in samples { sample(name, labels, spelled: String(value)) }
    }

    /// Values counted by the first bound that they do not exceed.
    package struct Histogram: Sendable {
        private let bounds: [Double]
        private var counts: [Int]
        private var sum = 0.0

        package init(_ bounds: [Double]) {
            self.bounds = bounds
            counts = Array(repeating: 0, count: bounds.count + 1)
        }

        package mutating func add(_ value: Double) {
            counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
            sum += value
        }

        /// Each bound, as text, with the number of values up to it.
        fileprivate var buckets: [(bound: String, count: Int)] {
            var total = 0
            return zip(bounds.map(\.description) + ["+Inf"], counts).map { bound, count in
                total += count
                return (bound, total)
            }
        }

        fileprivate var sumText: String { sum.description }
    }

    /// Bounds and the sum keep the decimal point of whole numbers: a bound's spelling is a part of a
    /// series' name.
    package mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        family(name, "histogram", help)
        let buckets = histogram.buckets
        for (bound, count) in buckets {
            sample(name + "_bucket", [("le", bound)], spelled: "\(count)")
        }
        sample(name + "_sum", spelled: histogram.sumText)
        sample(name + "_count", spelled: "\(buckets.last?.count ?? 0)")
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A label's value: backslashes, quotation marks and line breaks are escaped.
    private static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out += "\\\\"
            case "\"": out += "\\\""
            case "\n": out += "\\n"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
