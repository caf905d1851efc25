import Foundation
import SkeinBasics

/// Curves over steps as SVG, without a script.
struct ReportChart {
    struct Curve {
        var name: String
        /// Steps and values, in the order of the steps.
        var points: [(step: Int, value: Double)]
        /// The run's number, which chooses the color.
        var run: Int
        var style = Style.line

        enum Style: String {
            case line
            /// What a smoothed curve was made from.
            case faint
            /// With a mark at each point.
            case marked
        }
    }

    /// Points that are drawn of a curve: more than a screen has columns.
    static let mostPoints = 800
    /// Colors; later runs have those again, with dashes.
    static let colors = 8

    var title: String
    var curves: [Curve]

    private static let (width, height, left, bottom, top) = (640.0, 240.0, 58.0, 22.0, 8.0)

    /// The chart as a figure; empty when nothing can be drawn.
    var svg: String {
        let shown = curves.map(Self.thinned).filter { !$0.points.isEmpty }
        let all = shown.flatMap(\.points)
        guard let last = all.map(\.step).max(), let low = all.map(\.value).min(),
            let high = all.map(\.value).max()
        else { return "" }
        let first = min(all.map(\.step).min() ?? 1, last)
        let ticks = Self.ticks(low, high)
        let (bottomValue, topValue) = (min(low, ticks.first ?? low), max(high, ticks.last ?? high))
        func x(_ step: Int) -> Double {
            let share =
                last > first ? (Double(step) - Double(first)) / (Double(last) - Double(first)) : 0.5
            return Self.left + share * (Self.width - Self.left - 8)
        }
        func y(_ value: Double) -> Double {
            // Halves, since the difference of two large numbers may not be finite.
            let span = topValue / 2 - bottomValue / 2
            let share = span > 0 ? (value / 2 - bottomValue / 2) / span : 0.5
            return Self.top + (1 - share) * (Self.height - Self.top - Self.bottom)
        }
        var parts: [String] = []
        for tick in ticks {
            let place = HTML.number(y(tick))
            parts.append(
                "<path class=\"grid\" d=\"M\(HTML.number(Self.left)) \(place)H\(HTML.number(Self.width))\"/>"
                    + "<text x=\"\(HTML.number(Self.left - 6))\" y=\"\(place)\" dy=\"4\" "
                    + "text-anchor=\"end\">\(HTML.text(Self.label(tick, ticks)))</text>")
        }
        for (step, anchor) in [(first, "start"), (last, "end")] where step == first || last > first
        {
            parts.append(
                "<text x=\"\(HTML.number(x(step)))\" y=\"\(HTML.number(Self.height - 5))\" "
                    + "text-anchor=\"\(anchor)\">\(Figures.grouped(step))</text>")
        }
        for curve in shown {
            let places = curve.points.map {
                "\(HTML.number(x($0.step))) \(HTML.number(y($0.value)))"
            }
            let kind = "c\(curve.run % Self.colors) \(curve.style.rawValue)"
            let dashes = curve.run >= Self.colors ? " dashed" : ""
            if places.count > 1 {
                parts.append(
                    "<path class=\"\(kind)\(dashes)\" d=\"M\(places.joined(separator: "L"))\"/>")
            }
            guard curve.style == .marked || places.count == 1 else { continue }
            for point in curve.points {
                parts.append(
                    "<circle class=\"f\(curve.run % Self.colors)\" cx=\"\(HTML.number(x(point.step)))\" "
                        + "cy=\"\(HTML.number(y(point.value)))\" r=\"3\"/>")
            }
        }
        return """
            <figure><figcaption>\(HTML.text(title))</figcaption>
            <svg viewBox="0 0 \(HTML.number(Self.width)) \(HTML.number(Self.height))" role="img" \
            aria-label="\(HTML.text(summary(shown)))">\(parts.joined(separator: "\n"))</svg></figure>
            """
    }

    /// What a curve says to those who cannot see it.
    private func summary(_ curves: [Curve]) -> String {
        let texts = curves.filter { $0.style != .faint }.compactMap { curve -> String? in
            guard let first = curve.points.first, let last = curve.points.last else { return nil }
            return "\(curve.name): \(Self.value(first.value)) at step "
                + "\(Figures.grouped(first.step)), \(Self.value(last.value)) at step "
                + Figures.grouped(last.step)
        }
        return "\(title). " + texts.joined(separator: "; ")
    }

    /// At most `mostPoints` of the points, evenly chosen, with the first and the last.
    static func thinned(_ curve: Curve) -> Curve {
        var curve = curve
        curve.points = curve.points.filter { $0.value.isFinite }
        let count = curve.points.count
        guard count > mostPoints else { return curve }
        curve.points = (0..<mostPoints).map { curve.points[$0 * (count - 1) / (mostPoints - 1)] }
        return curve
    }

    /// Round numbers between two values: 1, 2 or 5 times a power of ten apart, three to eight of them.
    static func ticks(_ low: Double, _ high: Double) -> [Double] {
        let span = high - low
        guard span.isFinite, span > 0, span > abs(high) * 1e-12 else { return [low] }
        let power = pow(10, floor(log10(span)))
        guard power > 0, power.isFinite else { return [low] }
        let step = [0.2, 0.5, 1, 2].map { $0 * power }.first { span / $0 <= 6 } ?? power
        let start = (low / step).rounded(.up)
        let end = (high / step).rounded(.down)
        guard start <= end, end - start < 100, start + 1 > start else { return [low, high] }
        return (0...Int(end - start)).map { (start + Double($0)) * step }
    }

    /// A tick with as many digits as tell it from its neighbours.
    static func label(_ tick: Double, _ ticks: [Double]) -> String {
        let step = ticks.count > 1 ? abs(ticks[1] - ticks[0]) : 0
        let size = max(abs(ticks.first ?? 0), abs(ticks.last ?? 0))
        if size >= 1e6 || (size > 0 && size < 1e-3) {
            return String(format: "%.2g", tick)
        }
        guard step > 0 else { return value(tick) }
        return Figures.fixed(tick, max(0, min(6, Int((-log10(step)).rounded(.up)))))
    }

    /// A value by itself: a learning rate has its digits far behind the point.
    static func value(_ value: Double) -> String {
        value != 0 && abs(value) < 0.1
            ? String(format: "%.3g", value) : Figures.significant(value)
    }

    /// An average over about the last ten points, as the live page draws it: divided by its weights, the
    /// first ones count in full.
    static func smoothed(_ points: [(step: Int, value: Double)]) -> [(step: Int, value: Double)] {
        var (sum, weight) = (0.0, 0.0)
        return points.map { point in
            sum = 0.9 * sum + 0.1 * point.value
            weight = 0.9 * weight + 0.1
            return (point.step, sum / weight)
        }
    }
}
