import SkeinBasics

/// The classes of all code points in two stages: 4,352 blocks of 256, equal blocks of one class
/// stored once.
struct CharacterClasses: Sendable {
    /// What a code point belongs to; no bit: punctuation, symbols, controls, unassigned.
    struct Class: OptionSet, Sendable {
        let rawValue: UInt8

        static let letter = Class(rawValue: 1)
        static let number = Class(rawValue: 2)
        static let whiteSpace = Class(rawValue: 4)
        /// Carriage return and line feed, beside `whiteSpace`.
        static let newline = Class(rawValue: 8)
        /// What `Digits` isolates: the numbers, and a few more code points.
        static let digit = Class(rawValue: 16)
        /// Capitals and title case, beside `letter`.
        static let upper = Class(rawValue: 32)
        /// Small letters, beside `letter`.
        static let lower = Class(rawValue: 64)
        /// Combining marks.
        static let mark = Class(rawValue: 128)
    }

    /// Made from `UnicodeCategories` and `CharacterRanges` at the first use.
    static let shared = CharacterClasses()

    private let blocks: [UInt16]
    private let classes: [Class]

    private init() {
        var flat = [UInt8](repeating: 0, count: 0x110000)
        func mark(_ set: ScalarSet, _ kind: Class) {
            for range in set.ranges {
                for scalar in range { flat[Int(scalar)] |= kind.rawValue }
            }
        }
        mark(.categories("L"), .letter)
        mark(.categories("N"), .number)
        mark(.whiteSpace, .whiteSpace)
        mark(.isolatedDigits, .digit)
        mark(.categories("Lu", "Lt"), .upper)
        mark(.categories("Ll"), .lower)
        mark(.categories("M"), .mark)
        mark(ScalarSet([0x0A...0x0A, 0x0D...0x0D]), .newline)

        // Block 0 stays first, so that the class of an ASCII byte is one look-up.
        var classes: [Class] = []
        var blocks: [UInt16] = []
        var uniform: [UInt8: UInt16] = [:]
        for start in stride(from: 0, to: flat.count, by: 256) {
            let block = flat[start..<(start + 256)]
            let isUniform = start > 0 && block.allSatisfy { $0 == flat[start] }
            if isUniform, let stored = uniform[flat[start]] {
                blocks.append(stored)
                continue
            }
            let number = UInt16(classes.count / 256)
            if isUniform { uniform[flat[start]] = number }
            blocks.append(number)
            classes.append(contentsOf: block.lazy.map { Class(rawValue: $0) })
        }
        self.blocks = blocks
        self.classes = classes
    }

    /// Calls `body` with a reader of the tables.
    @inline(__always)
    func withReader<Result>(_ body: (Reader) -> Result) -> Result {
        blocks.withUnsafeBufferPointer { blocks in
            classes.withUnsafeBufferPointer { classes in
                body(Reader(blocks: blocks, classes: classes))
            }
        }
    }

    /// The tables without reference counts; valid inside `withReader`.
    struct Reader {
        fileprivate let blocks: UnsafeBufferPointer<UInt16>
        fileprivate let classes: UnsafeBufferPointer<Class>

        @inline(__always)
        subscript(ascii byte: UInt8) -> Class { classes[Int(byte)] }

        @inline(__always)
        subscript(scalar: UInt32) -> Class {
            classes[Int(blocks[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)]
        }
    }
}
