import Foundation
import SkeinTestSupport

@testable import SkeinSessions

/// A schema drawn at random, in a form that tells by itself whether a value satisfies it.
indirect enum DrawnSchema {
    case text
    case choice(name: String, [String])
    case pattern(String)
    case integer(ClosedRange<Int>?)
    case float(ClosedRange<Float>?)
    case double(minimum: Double?, maximum: Double?)
    case decimal(ClosedRange<Decimal>?)
    case bool
    case null
    case mood
    case shape
    case list(DrawnSchema, least: Int?, most: Int?)
    case object(name: String, [Property])
    case union(name: String, [DrawnSchema])
    /// The object of that name around it.
    case enclosing(name: String)

    struct Property {
        var name: String
        var schema: DrawnSchema
        var isOptional: Bool
    }
}

extension DrawnSchema {
    static func draw(using random: inout TestRandom) -> DrawnSchema {
        var artist = Artist(random: random)
        defer { random = artist.random }
        return artist.draw(depth: 0, inside: [])
    }

    private struct Artist {
        var random: TestRandom
        private var count = 0

        init(random: TestRandom) {
            self.random = random
        }

        private mutating func int(_ range: ClosedRange<Int>) -> Int {
            Int.random(in: range, using: &random)
        }

        private mutating func name(_ kind: String) -> String {
            count += 1
            return "\(kind)\(count)"
        }

        mutating func draw(depth: Int, inside names: [String]) -> DrawnSchema {
            switch depth == 0 ? int(11...15) : int(0...(depth < 4 ? 16 : 10)) {
            case 0: return .text
            case 1: return .choice(name: name("Choice"), ["a", "ab", "é\"", "日本"])
            case 2:
                return .pattern(["[A-Z]{2}\\d", "(ab|c)+", "\\d{1,3}(\\.\\d)?", "x*"][int(0...3)])
            case 3:
                let ranges = [nil, 0...20, -7...(-3), Int.min...Int.max, 1_000_000...1_000_007]
                return .integer(ranges[int(0...4)])
            case 4:
                let ranges = [nil, 0...1, -0.1...0.1, 3e38...Float.greatestFiniteMagnitude]
                return .float(ranges[int(0...3)])
            case 5:
                let sum = 0.1 + 0.2
                switch int(0...3) {
                case 0: return .double(minimum: nil, maximum: nil)
                case 1: return .double(minimum: 0.5, maximum: nil)
                case 2: return .double(minimum: -1e20, maximum: 2.5)
                default: return .double(minimum: sum, maximum: sum)
                }
            case 6: return .decimal([nil, Decimal(1) / Decimal(8)...Decimal(3)][int(0...1)])
            case 7: return .bool
            case 8: return .null
            case 9: return .mood
            case 10: return .shape
            case 11, 12:
                let least = [nil, 0, 1, 2][int(0...3)]
                return .list(
                    draw(depth: depth + 1, inside: names), least: least,
                    most: [nil, (least ?? 0) + int(0...2)][int(0...1)])
            case 13:
                let members = (0..<int(1...3)).map { _ in draw(depth: depth + 1, inside: names) }
                return .union(name: name("Union"), members)
            case 16 where !names.isEmpty:
                // In an array that may be empty, so that it ends.
                return .list(
                    .enclosing(name: names[int(0...(names.count - 1))]), least: nil, most: 2)
            default:
                let own = name("Object")
                let properties = (0..<int(0...4)).map { place in
                    Property(
                        name: ["b", "a", "é", "long name"][place],
                        schema: draw(depth: depth + 1, inside: names + [own]),
                        isOptional: int(0...2) == 0)
                }
                return .object(name: own, properties)
            }
        }
    }
}

extension DrawnSchema {
    /// The schema as a user writes it.
    var dynamic: DynamicGenerationSchema {
        switch self {
        case .text: return .init(type: String.self)
        case .choice(let name, let choices): return .init(name: name, anyOf: choices)
        case .pattern(let source):
            return .init(type: String.self, guides: [.pattern(source: source)])
        case .integer(let range):
            return .init(type: Int.self, guides: range.map { [.range($0)] } ?? [])
        case .float(let range):
            return .init(type: Float.self, guides: range.map { [.range($0)] } ?? [])
        case .double(let minimum, let maximum):
            return .init(
                type: Double.self,
                guides: (minimum.map { [.minimum($0)] } ?? [])
                    + (maximum.map { [.maximum($0)] } ?? [])
            )
        case .decimal(let range):
            return .init(type: Decimal.self, guides: range.map { [.range($0)] } ?? [])
        case .bool: return .init(type: Bool.self)
        case .null: return .null
        case .mood: return .init(type: Mood.self)
        case .shape: return .init(type: Shape.self)
        case .list(let element, let least, let most):
            return .init(
                arrayOf: element.dynamic, minimumElements: least, maximumElements: most)
        case .object(let name, let properties):
            return .init(
                name: name,
                properties: properties.map {
                    .init(name: $0.name, schema: $0.schema.dynamic, isOptional: $0.isOptional)
                })
        case .union(let name, let members):
            return .init(name: name, anyOf: members.map(\.dynamic))
        case .enclosing(let name): return .init(referenceTo: name)
        }
    }

    /// Whether a value satisfies the schema.
    func accepts(
        _ content: GeneratedContent, inside objects: [String: DrawnSchema] = [:]
    ) -> Bool {
        switch self {
        case .text: return (try? String(content)) != nil
        case .choice(_, let choices): return (try? String(content)).map(choices.contains) ?? false
        case .pattern(let source):
            guard let text = try? String(content), let regex = try? Regex(source) else {
                return false
            }
            return text.wholeMatch(of: regex) != nil
        case .integer(let range):
            return (try? Int(content)).map { range?.contains($0) ?? true } ?? false
        case .float(let range):
            return (try? Float(content)).map { range?.contains($0) ?? true } ?? false
        case .double(let minimum, let maximum):
            guard let value = try? Double(content) else { return false }
            return value >= minimum ?? -.infinity && value <= maximum ?? .infinity
        case .decimal(let range):
            return (try? Decimal(content)).map { range?.contains($0) ?? true } ?? false
        case .bool: return (try? Bool(content)) != nil
        case .null: return content.kind == .null
        case .mood: return (try? Mood(content)) != nil
        case .shape:
            guard let shape = try? Shape(content) else { return false }
            if case .circle(let radius) = shape { return radius >= 0 }
            return true
        case .list(let element, let least, let most):
            guard case .array(let elements) = content.kind else { return false }
            return elements.count >= least ?? 0 && elements.count <= most ?? .max
                && elements.allSatisfy { element.accepts($0, inside: objects) }
        case .object(let name, let properties):
            guard case .structure(let values, let keys) = content.kind else { return false }
            var objects = objects
            objects[name] = self
            // Declared properties, in their order.
            let expected = properties.map(\.name).filter { values[$0] != nil }
            guard keys == expected else { return false }
            return properties.allSatisfy { property in
                values[property.name].map { property.schema.accepts($0, inside: objects) }
                    ?? property.isOptional
            }
        case .union(_, let members):
            return members.contains { $0.accepts(content, inside: objects) }
        case .enclosing(let name):
            return objects[name]?.accepts(content, inside: objects) ?? false
        }
    }
}
