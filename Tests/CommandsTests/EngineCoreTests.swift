import Testing

@testable import Commands

/// Samples are the `flags` lines of /proc/cpuinfo, without what no decision depends on.
@Suite struct EngineCoreTests {
    static let common = "fpu sse sse2 ssse3 cx16 sse4_1 sse4_2 popcnt avx f16c"
    static let emeraldRapids =
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n"
        + "flags\t\t: \(common) fma avx2 avx512f avx512dq avx512bw avx512vl avx512_bf16\n"
        + "vmx flags\t: vnmi\n\nprocessor\t: 1\n"
    static let zen3 =
        "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: \(common) fma avx2 sha_ni\n"
    static let knightsLanding =
        "processor\t: 0\nflags\t\t: \(common) fma avx2 avx512f avx512pf avx512er avx512cd\n"
    static let sandyBridge = "processor\t: 0\nflags\t\t: \(common)\n"
    static let arm = "processor\t: 0\nFeatures\t: fp asimd evtstrm aes\n"

    static let cases: [(chosen: String, processor: String, wanted: String?)] = [
        ("Prescott", emeraldRapids, "SkylakeX"),
        ("Haswell", emeraldRapids, "SkylakeX"),
        ("SkylakeX", emeraldRapids, nil),
        ("Cooperlake", emeraldRapids, nil),
        ("Sapphirerapids", emeraldRapids, nil),
        ("Prescott", zen3, "Haswell"),
        ("Zen", zen3, nil),
        ("Haswell", zen3, nil),
        ("Excavator", zen3, "Haswell"),
        ("Haswell", knightsLanding, nil),
        ("Prescott", knightsLanding, "Haswell"),
        ("Sandybridge", sandyBridge, nil),
        ("Prescott", sandyBridge, nil),
        ("armv8", arm, nil),
        ("Prescott", "", nil),
        ("Prescott", "flags", nil),
    ]

    @Test("a wider kernel set is asked for when the processor has it", arguments: cases.indices)
    func choices(index: Int) {
        let (chosen, processor, wanted) = Self.cases[index]
        #expect(EngineCore.choice(chosen: chosen) { processor } == wanted)
    }

    @Test("the processor is not looked at when the choice cannot get better")
    func economy() {
        var looked = false
        let choice = EngineCore.choice(chosen: "SkylakeX") {
            looked = true
            return Self.emeraldRapids
        }
        #expect(choice == nil)
        #expect(!looked)
    }

    @Test("a word that only contains a feature's name is not that feature")
    func wholeWords() {
        let text = "flags\t\t: avx2x fma avx512f_no"
        #expect(EngineCore.vectorClass(processor: text) == .narrow)
    }
}
