import Foundation

/// Numbers as people read them. Pure.
package enum Figures {
    /// MiB as flags have them, rounded up.
    package static func mebibytes(_ bytes: Int) -> Int { (bytes + (1 << 20) - 1) >> 20 }

    /// `134,515,008`.
    package static func grouped(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var out = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { out += "," }
            out.append(digit)
        }
        return number < 0 ? "-" + out : out
    }

    /// `1 tensor`, `2,270 rows`, `3 micro-batches`.
    ///
    /// - Parameters:
    ///   - number: how many.
    ///   - noun: of one.
    ///   - plural: of several, where it is not `noun` and an s.
    /// - Returns: both.
    package static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
        grouped(number) + " " + (number == 1 ? noun : plural ?? noun + "s")
    }

    /// `98.4 MB`; decimal units, as file systems and networks count.
    package static func bytes(_ count: Int) -> String {
        scaled(Double(count), ["B", "kB", "MB", "GB", "TB"])
    }

    /// `14.2 GFLOP/s` out of FLOP/s, `9.31 GB/s` out of B/s.
    package static func rate(_ perSecond: Double, unit: String) -> String {
        scaled(perSecond, ["", "k", "M", "G", "T"].map { $0 + unit + "/s" })
    }

    /// `61.3 %`.
    package static func percent(_ share: Double) -> String {
        (share * 100 < 10 ? fixed(share * 100, 2) : fixed(share * 100, 1)) + " %"
    }

    /// `1.93 s`, `4.10 ms`, `820 us`.
    package static func seconds(_ seconds: Double) -> String {
        if seconds >= 1 || seconds <= 0 { return significant(seconds) + " s" }
        if seconds >= 1e-3 { return significant(seconds * 1e3) + " ms" }
        return significant(seconds * 1e6) + " us"
    }

    /// `decimals` digits behind the point.
    package static func fixed(_ number: Double, _ decimals: Int) -> String {
        String(format: "%.\(decimals)f", number)
    }

    /// Three digits that count; whole numbers above.
    package static func significant(_ number: Double) -> String {
        let size = abs(number)
        return fixed(number, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)
    }

    private static func scaled(_ number: Double, _ units: [String]) -> String {
        var value = number
        var place = 0
        while abs(value) >= 999.5, place < units.count - 1 {
            value /= 1000
            place += 1
        }
        return (place == 0 ? fixed(value, 0) : significant(value)) + " " + units[place]
    }
}
