import SkeinJSON

/// Options that belong together: a struct whose stored properties are `Option`s, and nothing else.
///
/// The property is the declaration. Its name is how code reads the value, `OptionValues` holds the
/// values, and everything else goes through `options`:
///
/// ```swift
/// struct Speed: OptionTable {
///     let threads = Option("threads", .integer(1...1024), default: "1", "threads that compute")
///     static let table = Speed()
///     static let options = list(table)
/// }
/// var speed = OptionValues<Speed>()
/// speed.threads = 4
/// ```
package protocol OptionTable: Sendable {
    static var table: Self { get }
    /// All of them, in the order of declaration.
    static var options: [any AnyOption] { get }
}

extension OptionTable {
    /// The stored properties of `table`.
    package static func list(_ table: Self) -> [any AnyOption] {
        Mirror(reflecting: table).children.map { child in
            guard let option = child.value as? any AnyOption else {
                preconditionFailure("\(child.label ?? "a property") of \(Self.self) is no option")
            }
            return option
        }
    }
}

extension [any AnyOption] {
    /// Those that help lists under a heading.
    package func under(_ heading: OptionHeading) -> [OptionDescription] {
        map(\.description).filter { $0.heading == heading }
    }
}

/// An option without its type.
package protocol AnyOption: Sendable {
    var description: OptionDescription { get }
    /// The value of a text, for `OptionValues` to keep; nil when it is not accepted.
    func kept(_ text: String) -> (any Sendable)?
    /// A kept value as JSON; the default when there is none. Null for an optional one without.
    func json(_ kept: (any Sendable)?) -> JSONValue
}

/// A value without its type: a box, since a cast would see through an optional.
private struct Kept<Value: Sendable>: Sendable {
    let value: Value
}

extension Option: AnyOption {
    package func kept(_ text: String) -> (any Sendable)? {
        format.read(text).map { Kept(value: $0) }
    }

    package func json(_ kept: (any Sendable)?) -> JSONValue {
        format.json(value(kept))
    }

    fileprivate func value(_ kept: (any Sendable)?) -> Value {
        if let kept {
            guard let kept = kept as? Kept<Value> else {
                preconditionFailure("--\(description.name) keeps a value of another type")
            }
            return kept.value
        }
        guard let fallback else {
            preconditionFailure("--\(description.name) is required and stands in a table")
        }
        return fallback
    }

    fileprivate func kept(_ value: Value) -> any Sendable { Kept(value: value) }
}

/// A value for each option of a table, under the name of the property that declares it.
@dynamicMemberLookup
package struct OptionValues<Table: OptionTable>: Sendable, Equatable {
    /// By the names of options. What is not here has its default.
    private var kept: [String: any Sendable] = [:]

    package init() {}

    package subscript<Value>(dynamicMember path: KeyPath<Table, Option<Value>>) -> Value {
        get {
            let option = Table.table[keyPath: path]
            return option.value(kept[option.description.name])
        }
        set {
            let option = Table.table[keyPath: path]
            kept[option.description.name] = option.kept(newValue)
        }
    }

    /// Sets an option from text.
    ///
    /// - Returns: whether `option` accepts the text; nothing is set otherwise.
    package mutating func set(_ option: any AnyOption, to text: String) -> Bool {
        guard let value = option.kept(text) else { return false }
        kept[option.description.name] = value
        return true
    }

    package func json(of option: any AnyOption) -> JSONValue {
        option.json(kept[option.description.name])
    }

    /// The value as text that `set` reads back; nil for an optional option without a value.
    package func text(of option: any AnyOption) -> String? { json(of: option).optionText }

    /// Options by name, in their order, as run.json has them.
    package var fields: [(String, JSONValue)] {
        named.map { ($0.description.name, json(of: $0)) }
    }

    /// The options that are named in files and digests.
    package var named: [any AnyOption] {
        Table.options.filter { !$0.description.isNamedOnlyWhenGiven || text(of: $0) != nil }
    }

    /// The first option with a value, set in code, that its text would not be accepted for.
    package var firstRefused: (option: OptionDescription, text: String)? {
        for option in Table.options {
            guard let text = text(of: option) else { continue }
            if option.kept(text) == nil { return (option.description, text) }
        }
        return nil
    }

    package static func == (left: Self, right: Self) -> Bool {
        Table.options.allSatisfy { left.text(of: $0) == right.text(of: $0) }
    }
}

extension JSONValue {
    /// The value as the command line has it; nil for null and for what no option is.
    package var optionText: String? {
        switch self {
        case .text(let text): return text
        case .bool(let flag): return flag ? "on" : "off"
        // 8.0 is 8 for an option that counts.
        case .number(let spelled):
            return integer.map { String($0) } ?? double?.description ?? spelled
        case .list(let items):
            let texts = items.compactMap(\.string)
            return texts.count == items.count ? texts.joined(separator: ",") : nil
        case .null, .object: return nil
        }
    }
}
