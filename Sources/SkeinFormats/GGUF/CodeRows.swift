/// How rows of whole numbers with scales are given to the products that hold weights as they are in
/// the file: some types as they are, others rewritten with the same numbers.
package enum CodeRows: Sendable, CaseIterable {
    /// Q8_0's own blocks of 32: an f16 scale, 32 signed codes.
    case q8x0
    /// Blocks of 256: d and dmin as f16, 8 scales, 8 minima, then for each 32 codes 16 bytes, whose
    /// low nibbles are the first 16: y = (d scale) q - (dmin minimum).
    case q4K
    /// The same with each code, 0 to 31, in a byte.
    case q5K
    /// Blocks of 256: d as f16, two zero bytes, 16 signed scales, 256 signed codes: y = (d scale) q,
    /// groups of 16.
    case q6K

    package var blockElements: Int { self == .q8x0 ? 32 : 256 }

    package var blockBytes: Int {
        switch self {
        case .q8x0: 34
        case .q4K: 148
        case .q5K, .q6K: 276
        }
    }
}
