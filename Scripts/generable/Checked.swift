import Foundation
import SkeinSessions

/// A type whose values say for themselves whether they are what was declared. The generator writes it for
/// each type, from the declaration and not from what the macro made of it.
protocol Checked: Generable, Equatable, Sendable {
    /// Whether its numbers are written again as they were read: `Float` has fewer digits.
    static var isExact: Bool { get }

    /// Notes which guides hold, here and in all parts.
    func check(_ place: String, _ notes: inout Notes)

    /// Whether a partial value is this one, in all parts.
    func isSame(as partial: PartiallyGenerated) -> Bool
}

/// What was found in a value.
struct Notes {
    /// How many values were compared with a guide, by its name.
    private(set) var compared: [String: Int] = [:]
    private(set) var flaws: [String] = []

    mutating func holds(_ guide: String, _ holds: Bool, _ place: String, _ value: some Any) {
        compared[guide, default: 0] += 1
        if !holds { flaws.append("\(place) breaks \(guide): \(value)") }
    }
}

/// Whether a property is the same in a partial value: there, or missing in both.
func isSame<Value: Checked>(_ value: Value?, _ partial: Value.PartiallyGenerated?) -> Bool {
    switch (value, partial) {
    case (nil, nil): true
    case (let value?, let partial?): value.isSame(as: partial)
    // Null is read as nil wherever there may be nil.
    case (let value?, nil): (value as? GeneratedContent)?.kind == .null
    default: false
    }
}

extension Checked {
    static var isExact: Bool { true }
    func check(_ place: String, _ notes: inout Notes) {}
}

extension Checked where PartiallyGenerated == Self {
    func isSame(as partial: Self) -> Bool { self == partial }
}

extension String: Checked {}
extension Bool: Checked {}
extension Int: Checked {}
extension Decimal: Checked {}
extension GeneratedContent: Checked {}

extension Double: Checked {
    func check(_ place: String, _ notes: inout Notes) {
        if !isFinite { notes.holds("a finite Double", false, place, self) }
    }
}

extension Float: Checked {
    static var isExact: Bool { false }

    func check(_ place: String, _ notes: inout Notes) {
        if !isFinite { notes.holds("a finite Float", false, place, self) }
    }
}

extension Array: Checked where Element: Checked {
    static var isExact: Bool { Element.isExact }

    func check(_ place: String, _ notes: inout Notes) {
        for (index, element) in enumerated() { element.check("\(place)[\(index)]", &notes) }
    }

    func isSame(as partial: [Element.PartiallyGenerated]) -> Bool {
        count == partial.count && zip(self, partial).allSatisfy { $0.isSame(as: $1) }
    }
}
