import SkeinGrammar
import SkeinJSON

/// The order of the keys in structured content, kept beside it: `JSONEncoder` and `JSONDecoder`
/// lose it, and a model that reads its own words in another order reads other words.
///
/// Coded as `x-order`: the keys of each object of the content, objects in the order in which they
/// are met from the outside in. Left out where all keys stand in alphabetical order.
enum KeyOrder {
    /// The order of a content's keys; nil if it is the alphabetical one everywhere.
    static func coded(of content: JSONValue) -> JSONValue? {
        var lists: [[String]] = []
        collect(content, into: &lists)
        let isPlain = lists.allSatisfy { keys in
            zip(keys, keys.dropFirst()).allSatisfy { $0.precedes($1) }
        }
        return isPlain ? nil : .list(lists.map { keys in .list(keys.map { .text($0) }) })
    }

    private static func collect(_ content: JSONValue, into lists: inout [[String]]) {
        switch content {
        case .object(let fields):
            lists.append(fields.map(\.name))
            for field in fields { collect(field.value, into: &lists) }
        case .list(let items):
            for item in items { collect(item, into: &lists) }
        default: return
        }
    }

    /// Puts the keys of `content` into a coded order; nil if that is the order of other content.
    static func applying(_ coded: JSONValue, to content: JSONValue) -> JSONValue? {
        guard let lists = coded.list else { return nil }
        var rest = lists[...]
        let ordered = arrange(content, &rest)
        return rest.isEmpty ? ordered : nil
    }

    private static func arrange(
        _ content: JSONValue, _ lists: inout ArraySlice<JSONValue>
    ) -> JSONValue? {
        switch content {
        case .object(let fields):
            guard let names = lists.popFirst()?.list, names.count == fields.count else {
                return nil
            }
            let values = Dictionary(
                fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            var left = Set(values.keys)
            var ordered: [JSONField] = []
            for name in names {
                guard let name = name.string, left.remove(name) != nil, let value = values[name],
                    let inner = arrange(value, &lists)
                else { return nil }
                ordered.append(JSONField(name: name, value: inner))
            }
            return .object(ordered)
        case .list(let items):
            var ordered: [JSONValue] = []
            for item in items {
                guard let inner = arrange(item, &lists) else { return nil }
                ordered.append(inner)
            }
            return .list(ordered)
        default: return content
        }
    }
}
