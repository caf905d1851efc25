import Foundation
import Testing

@testable import SkeinSessions

@Suite("Names of entries")
struct EntryIDTests {
    @Test("They are written as Foundation writes UUIDs of version 4")
    func form() throws {
        #expect(EntryID.text(0, 0) == "00000000-0000-4000-8000-000000000000")
        #expect(EntryID.text(.max, .max) == "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF")
        #expect(
            EntryID.text(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)
                == "01234567-89AB-4DEF-BEDC-BA9876543210")
        for _ in 0..<100 {
            let id = EntryID.unique()
            #expect(try #require(UUID(uuidString: id)).uuidString == id)
        }
    }

    @Test("No two are the same")
    func unique() {
        #expect(Set((0..<1000).map { _ in EntryID.unique() }).count == 1000)
    }
}
