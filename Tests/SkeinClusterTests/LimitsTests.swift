import Testing

@testable import SkeinCluster

@Suite("limits of nodes")
struct LimitsTests {
    @Test("a handshake has five seconds")
    func handshake() {
        #expect(Limits.handshake == .seconds(5))
    }
}
