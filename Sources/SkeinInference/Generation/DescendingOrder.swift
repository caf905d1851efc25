/// Numbers from the largest to the smallest, ordered only as far as they are looked at.
///
/// Each round takes those within some distance of the largest that no round before has taken, so
/// that the first places, which is where tokens are drawn, cost one pass over the numbers and the
/// sorting of a few.
struct DescendingOrder {
    private let numbers: UnsafeBufferPointer<Float>
    let largest: Float
    /// Number and place in one integer, ascending where numbers descend, then places ascend.
    private var keys: [UInt64] = []
    /// All numbers from here on are in `keys`.
    private var bound = Float.infinity
    private var step: Float
    /// Rounds before all that is left is taken: each is a pass over all numbers.
    private var rounds = 3

    /// Shapes and ranges:
    ///   - numbers: at least one, all finite; valid as long as this is used.
    ///   - step: the first round's distance from the largest, above 0; later ones go further.
    init(_ numbers: UnsafeBufferPointer<Float>, step: Float) {
        self.numbers = numbers
        self.step = step
        largest = numbers[Self.placeOfLargest(numbers)]
    }

    /// The first of the largest, found eight candidates at a time: one at a time, a vocabulary
    /// would take a hundredth of a token's products.
    static func placeOfLargest(_ numbers: UnsafeBufferPointer<Float>) -> Int {
        let whole = numbers.count & ~7
        var lanes = SIMD8<Float>(repeating: -.infinity)
        for first in stride(from: 0, to: whole, by: 8) {
            let eight = UnsafeRawBufferPointer(numbers).loadUnaligned(
                fromByteOffset: first * MemoryLayout<Float>.stride, as: SIMD8<Float>.self)
            lanes.replace(with: eight, where: eight .> lanes)
        }
        let most = numbers[whole...].reduce(lanes.max(), max)
        return numbers.firstIndex(of: most) ?? 0
    }

    /// The place of the number with this rank; of equal ones the lower place comes first.
    subscript(rank: Int) -> Int {
        mutating get {
            while rank >= keys.count { extend() }
            return Int(keys[rank] & 0xffff_ffff)
        }
    }

    private mutating func extend() {
        precondition(bound > -.infinity, "a rank beyond the numbers, or one of them is not finite")
        let next = rounds > 0 ? largest - step : -.infinity
        let first = keys.count
        let raw = UnsafeRawBufferPointer(numbers)
        let whole = numbers.count & ~7
        // Eight at a time: few of them reach a bound.
        for start in stride(from: 0, to: whole, by: 8) {
            let eight = raw.loadUnaligned(
                fromByteOffset: start * MemoryLayout<Float>.stride, as: SIMD8<Float>.self)
            if any(eight .>= SIMD8(repeating: next)) { take(start..<start + 8, from: next) }
        }
        take(whole..<numbers.count, from: next)
        sort(from: first)
        bound = next
        step *= 3
        rounds -= 1
    }

    private mutating func take(_ places: Range<Int>, from next: Float) {
        for place in places where numbers[place] >= next && numbers[place] < bound {
            keys.append(Self.key(numbers[place], place))
        }
    }

    /// Sorts the keys from `first` on. So many that a comparing sort would take as long as a token's
    /// products, which is what a high temperature asks for, are dealt out digit by digit of their
    /// number; they arrive by place, and dealing keeps that order among equal numbers.
    private mutating func sort(from first: Int) {
        guard keys.count - first >= Self.manyKeys else { return keys[first...].sort() }
        var from = Array(keys[first...])
        var to = [UInt64](repeating: 0, count: from.count)
        for shift in [32, 43, 54] as [UInt64] {
            var next = [Int](repeating: 0, count: Self.digits)
            for key in from { next[Int(key >> shift) % Self.digits] += 1 }
            var start = 0
            for digit in next.indices { (next[digit], start) = (start, start + next[digit]) }
            for key in from {
                let digit = Int(key >> shift) % Self.digits
                to[next[digit]] = key
                next[digit] += 1
            }
            swap(&from, &to)
        }
        keys.replaceSubrange(first..., with: from)
    }

    /// Keys from which on dealing is faster than comparing.
    static let manyKeys = 4096
    /// Values of eleven bits, three of which hold the 32 bits of a number.
    private static let digits = 1 << 11

    private static func key(_ number: Float, _ place: Int) -> UInt64 {
        // Adding zero makes -0 and 0 equal. Bits of negative numbers ascend the other way round.
        let bits = (number + 0).bitPattern
        let ascending = bits >> 31 == 0 ? bits | 0x8000_0000 : ~bits
        return UInt64(~ascending) << 32 | UInt64(place)
    }
}
