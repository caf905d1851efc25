import Testing

@testable import SkeinText

@Suite struct CharacterClassTests {
    private typealias Class = CharacterClasses.Class

    @Test("the classes agree with Unicode for every character that Unicode 14 has")
    func unicode() {
        CharacterClasses.shared.withReader { classes in
            var wrong: [UInt32] = []
            for value in 0..<UInt32(0x110000) {
                guard let scalar = Unicode.Scalar(value) else { continue }
                let properties = scalar.properties
                // U+0295 became a letter without case after some of these tables were made.
                if value == 0x295 { continue }
                // The library's tables are of several newer versions; only UnicodeCategories and
                // CharacterRanges pin those characters.
                guard let age = properties.age, age.major <= 14 else { continue }
                var expected: Class = []
                switch properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                    .otherLetter:
                    expected = .letter
                    if properties.generalCategory == .lowercaseLetter { expected.insert(.lower) }
                    if [.uppercaseLetter, .titlecaseLetter].contains(properties.generalCategory) {
                        expected.insert(.upper)
                    }
                case .nonspacingMark, .spacingMark, .enclosingMark: expected = .mark
                case .decimalNumber, .letterNumber, .otherNumber: expected = [.number, .digit]
                default: break
                }
                if properties.isWhitespace { expected.formUnion(.whiteSpace) }
                if value == 0x0A || value == 0x0D { expected.formUnion(.newline) }
                if classes[value] != expected { wrong.append(value) }
            }
            #expect(wrong == [])
        }
    }

    @Test("reads every character with its own length and every broken one byte by byte")
    func characters() {
        CharacterClasses.shared.withReader { classes in
            func lengths(_ bytes: [UInt8]) -> [Int] {
                bytes.withUnsafeBufferPointer { buffer in
                    let reader = UTF8Reader(bytes: buffer, classes: classes)
                    var lengths: [Int] = []
                    var position = 0
                    while position < buffer.count {
                        let length = reader.character(at: position).length
                        lengths.append(length)
                        position += length
                    }
                    return lengths
                }
            }
            #expect(lengths(Array("aé海🦙\u{10FFFF}".utf8)) == [1, 2, 3, 4, 4])
            let broken: [[UInt8]] = [
                [0x80], [0xC3], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
                [0xE6, 0xB5], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
                [0xF0, 0x9F, 0xA6],
                [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],
            ]
            for bytes in broken {
                #expect(lengths(bytes) == bytes.map { _ in 1 }, "\(bytes)")
            }
            #expect(lengths([0xE6, 0xB5, 0x61]) == [1, 1, 1])
            #expect(lengths([0xED, 0x9F, 0xBF]) == [3])
        }
    }
}
