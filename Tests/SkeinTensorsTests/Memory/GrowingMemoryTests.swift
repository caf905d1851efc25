import Testing

@testable import SkeinTensors

/// Memory that grows stays aligned and writable to its end.
@Suite struct GrowingMemoryTests {
    @Test("memory stays on cache lines when it grows, and does not move when it is large enough")
    func grow() {
        let memory = GrowingMemory()
        #expect(memory.contents.isEmpty)
        for count in [1, 100, 5000, 1 << 20, 6 << 20] {
            let base = memory.reserve(count)
            #expect(Int(bitPattern: base) % 64 == 0)
            #expect(memory.contents.count == count)
            memory.contents.update(repeating: Float(count))
            #expect(base[count - 1] == Float(count))
            #expect(memory.reserve(count / 2) == base)
        }
    }
}
