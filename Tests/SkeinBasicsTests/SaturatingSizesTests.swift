import SkeinBasics
import Testing

@Suite("sizes that a stranger has named")
struct SaturatingSizesTests {
    @Test("what does not fit is Int.max; what fits is exact")
    func bounds() {
        let half = Int.max / 2
        #expect(2.saturatingPlus(3) == 5 && 2.saturatingTimes(3) == 6)
        #expect(half.saturatingPlus(half + 1) == .max && half.saturatingTimes(2) == .max - 1)
        #expect(Int.max.saturatingPlus(1) == .max && half.saturatingTimes(3) == .max)
        #expect(Int.max.saturatingTimes(0) == 0 && Int.max.saturatingPlus(0) == .max)
    }
}
