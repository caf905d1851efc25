/// Who a generated value is, from its first partial form to its last.
///
/// The values of one response keep their ids in all snapshots of a stream, so lists can tell which
/// element grew. Ids of different responses are different.
public struct GenerationID: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// An id that is different from all others: 128 random bits.
    public init() {
        var random = SystemRandomNumberGenerator()
        self.init(high: random.next(), low: random.next())
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id of a property of this value: always the same for the same name.
    package func child(_ name: String) -> GenerationID {
        var mixed = Self.mix(self, 1)
        for byte in name.utf8 { mixed = Self.mix(mixed, UInt64(byte) + 2) }
        return mixed
    }

    /// The id of an element of this value: always the same for the same place.
    package func child(_ index: Int) -> GenerationID {
        Self.mix(Self.mix(self, 0), UInt64(truncatingIfNeeded: index))
    }

    /// Two lanes, each a bijection of its word (SplitMix64's finish) for a given number, so that
    /// different ids stay different.
    private static func mix(_ id: GenerationID, _ word: UInt64) -> GenerationID {
        func finish(_ word: UInt64) -> UInt64 {
            var z = word &+ 0x9E37_79B9_7F4A_7C15
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        let added = finish(word)
        return GenerationID(
            high: finish(id.high ^ added), low: finish(id.low &+ added.byteSwapped))
    }
}
