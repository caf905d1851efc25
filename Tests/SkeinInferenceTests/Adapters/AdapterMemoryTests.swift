import Testing

@testable import SkeinInference

/// Room for adapters is counted, whoever holds it.
@Suite struct AdapterMemoryTests {
    @Test("room counts as long as somebody holds it, and no more is given than there is")
    func rooms() throws {
        let memory = AdapterMemory(byteLimit: 10)
        let second: AdapterMemory.Room
        do {
            let first = try memory.room(for: 6)
            #expect(throws: AdapterRoomError.full(bytes: 5, held: 6, limit: 10)) {
                try memory.room(for: 5)
            }
            second = try memory.room(for: 4)
            #expect(memory.heldBytes == 10)
            withExtendedLifetime(first) {}
        }
        #expect(memory.heldBytes == 4)
        #expect(throws: AdapterRoomError.tooLarge(bytes: 11, limit: 10)) {
            try memory.room(for: 11)
        }
        withExtendedLifetime(second) {}
    }
}
