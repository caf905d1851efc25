import Testing

@testable import SkeinInference

/// Room for adapters is counted, whatever holds it.
@Suite struct AdapterMemoryTests {
    @Test("room counts as long as it is held, and no more is given than there is")
    func rooms() throws {
        let memory = AdapterMemory(byteLimit: 10)
        let second: AdapterMemory.Reservation
        do {
            let first = try memory.reserve(6)
            #expect(throws: AdapterMemoryError.full(bytes: 5, held: 6, limit: 10)) {
                try memory.reserve(5)
            }
            second = try memory.reserve(4)
            #expect(memory.heldBytes == 10)
            withExtendedLifetime(first) {}
        }
        #expect(memory.heldBytes == 4)
        #expect(throws: AdapterMemoryError.tooLarge(bytes: 11, limit: 10)) {
            try memory.reserve(11)
        }
        withExtendedLifetime(second) {}
    }
}
