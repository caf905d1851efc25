import Testing

@testable import SkeinRows

/// The text that may stand in a row.
@Suite struct UTF8CheckTests {
    @Test("what is well-formed UTF-8, as Swift's own reader says")
    func utf8() {
        let leads: [UInt8] = [
            0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
            0xF0,
            0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        let seconds: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        let thirds: [UInt8] = [0x41, 0x7F, 0x80, 0xBF, 0xC0]
        for lead in leads {
            for second in seconds {
                for third in thirds {
                    for fourth in thirds {
                        let bytes = [lead, second, third, fourth]
                        for count in 0...4 {
                            // Behind ASCII, so that a word of eight bytes ends before, in and after it.
                            for before in [0, 3, 8] {
                                let text =
                                    [UInt8](repeating: 0x61, count: before) + bytes.prefix(count)
                                let valid = String(validating: text, as: UTF8.self) != nil
                                let found = text.withUnsafeBytes(UTF8Check.isValid)
                                if found != valid { Issue.record("\(text): \(found)") }
                            }
                        }
                    }
                }
            }
        }
    }
}
