import SkeinJSON

/// A value of a Parquet schema as JSON has it: lists are lists, whatever groups the file writes them as.
///
/// Levels are Dremel's (Melnik et al. 2010, section 4.1). A leaf's definition level says how many of
/// the optional and repeated elements above it are there, its repetition level which list goes on.
final class SchemaNode {
    enum Kind {
        case leaf(LeafKind)
        case structure([SchemaNode])
        /// A definition level of `filled` or more: the list has an element. A repetition level of
        /// `repetition`: it has another one.
        case list(element: SchemaNode, filled: Int, repetition: Int)
        /// A type that is not read, by name.
        case refused(String)
    }

    /// What a leaf's values become in JSON.
    enum LeafKind {
        case boolean
        case int32(signed: Bool)
        case int64(signed: Bool)
        case float
        case double
        case text
        /// Text, or the array that it is JSON of.
        case json
    }

    let name: String
    /// `"name":`
    let key: [UInt8]
    /// The least definition level at which the value is not null; that of its parent if it is required.
    let present: Int
    /// The leaves beneath, by their place among the file's.
    let leaves: Range<Int>
    let kind: Kind

    init(name: String, present: Int, leaves: Range<Int>, kind: Kind) {
        self.name = name
        key = JSONWriter.key(name)
        self.present = present
        self.leaves = leaves
        self.kind = kind
    }

    /// The name of a type beneath that is not read.
    var refusal: String? {
        switch kind {
        case .leaf: nil
        case .refused(let name): name
        case .structure(let fields): fields.lazy.compactMap(\.refusal).first
        case .list(let element, _, _): element.refusal
        }
    }
}
