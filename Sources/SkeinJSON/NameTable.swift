/// Finds fields by name, while an object grows and when it is read.
struct NameTable {
    /// Objects with more fields are looked up in a table; most have a few.
    private static let fewFields = 8

    /// The places of the first fields of their names.
    private var places: [Name: Int] = [:]
    /// How many fields are in the table.
    private var seen = 0

    private struct Name: Hashable {
        var text: String

        /// By the bytes of the name: texts are equal in Swift when they look alike.
        static func == (left: Name, right: Name) -> Bool { left.text.isSame(as: right.text) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// For an object that grows.
    init() {}

    /// For an object that stays as it is.
    init(_ fields: [JSONField]) { grow(to: fields) }

    /// Takes note of fields that were added.
    @inline(__always)
    mutating func grow(to fields: [JSONField]) {
        if fields.count > Self.fewFields { add(fields) }
    }

    @inline(never)
    private mutating func add(_ fields: [JSONField]) {
        while seen < fields.count {
            let name = Name(text: fields[seen].name)
            if places[name] == nil { places[name] = seen }
            seen += 1
        }
    }

    /// Whether all names are known to be different; of few fields, nothing is known.
    func areDistinct(in fields: [JSONField]) -> Bool {
        fields.count > Self.fewFields && places.count == fields.count
    }

    /// The place of the first field of this name.
    ///
    /// - Parameters:
    ///   - name: what is looked for.
    ///   - fields: all of which note was taken.
    /// - Returns: nil if there is none.
    @inline(__always)
    func place(of name: String, in fields: [JSONField]) -> Int? {
        fields.count > Self.fewFields
            ? places[Name(text: name)] : fields.firstIndex { $0.name.isSame(as: name) }
    }
}
