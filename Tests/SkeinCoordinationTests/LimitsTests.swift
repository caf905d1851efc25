import SkeinCoordination
import Testing

@Suite("limits")
struct LimitsTests {
    @Test("a piece of a model with its header fits into one frame")
    func modelChunk() {
        // file, offset
        let header = 4 + 8
        #expect(Limits.modelChunkBytes + header <= Limits.framePayloadBytes)
    }
}
