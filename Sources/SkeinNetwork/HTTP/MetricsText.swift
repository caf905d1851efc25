/// Metrics as Prometheus reads them (text exposition format 0.0.4). Pure.
package struct MetricsText {
    package typealias Labels = KeyValuePairs<String, String>
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""

    package init() {}

    package mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    package mutating func sample(
        _ name: String, _ labels: Labels, _ value: some Numeric & CustomStringConvertible
    ) {
        let text = value.description
        let spelled =
            switch text {
            // Its own description may have a sign.
            case _ where value != value: "NaN"
            case "inf": "+Inf"
            case "-inf": "-Inf"
            default: text.hasSuffix(".0") ? String(text.dropLast(2)) : text
            }
        sample(name, labels, spelled: spelled)
    }

    private mutating func sample(_ name: String, _ labels: Labels = [:], spelled value: String) {
        let inside = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += name + (inside.isEmpty ? "" : "{" + inside + "}") + " " + value + "\n"
    }

    package mutating func single(
        _ name: String, _ type: String, _ help: String,
        _ value: (some Numeric & CustomStringConvertible)?
    ) {
        guard let value else { return }
        family(name, type, help)
        sample(name, [:], value)
    }

    /// Values counted by the first bound that they do not exceed.
    package struct Histogram: Sendable {
        fileprivate let bounds: [Double]
        fileprivate var counts: [Int]
        fileprivate var sum = 0.0

        package init(_ bounds: [Double]) {
            self.bounds = bounds
            counts = Array(repeating: 0, count: bounds.count + 1)
        }

        package mutating func add(_ value: Double) {
            counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
            sum += value
        }
    }

    /// Bounds and the sum keep the decimal point of whole numbers: a bound's spelling is a part of a
    /// series' name.
    package mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        family(name, "histogram", help)
        var total = 0
        for (bound, count) in zip(histogram.bounds.map(\.description) + ["+Inf"], histogram.counts)
        {
            total += count
            sample(name + "_bucket", ["le": bound], total)
        }
        sample(name + "_sum", spelled: histogram.sum.description)
        sample(name + "_count", [:], total)
    }

    /// A label's value: backslashes, quotation marks and line breaks are escaped.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map {
            switch $0 {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String($0)
            }
        }.joined()
    }
}
