import SkeinCoordination
import Testing

@testable import SkeinNodes

@Suite("peers in the order in which they came")
struct PeerLineTests {
    @Test("the first is always the oldest that is left")
    func order() {
        var line = PeerLine()
        var model: [PeerID] = []
        for number in UInt64(1)...1000 {
            line.append(PeerID(number))
            model.append(PeerID(number))
            // Some go from the front, some from anywhere.
            if number % 3 != 0 {
                let place = Int(number * 7919) % min(model.count, 1 + Int(number % 5))
                let gone = model.remove(at: place)
                line.remove(gone)
                line.remove(gone)
            }
            #expect(line.first == model.first)
            #expect(line.count == model.count)
        }
        for peer in model {
            #expect(line.first == peer)
            line.remove(peer)
        }
        #expect(line.first == nil && line.count == 0)
    }
}
