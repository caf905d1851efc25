import Foundation

/// Which choices of a program have led nowhere at which places of a text, so that none is made twice
/// in vain: without back-references, where a choice leads to depends on nothing else.
///
/// Davis, Servant and Lee, "Using Selective Memoization to Defeat Regular Expression Denial of
/// Service", 2021. It takes two bits for each choice and place, in a window of the text. They are not
/// written before they are needed, so a choice that is never made takes no memory.
final class RememberedStates {
    /// Characters of one set.
    private struct Run {
        var start = 0
        var end = -1
    }

    private let states: UnsafeBufferPointer<ExpressionProgram.State>
    /// Places in the window: the bytes of the text, and its end.
    private let width: Int
    private let placeCount: Int
    /// The first place in the window.
    private var base = 0
    /// Where each choice fails, and behind that where it meets the look-around that it stands in.
    private var bits: UnsafeMutablePointer<UInt8>?
    private let byteCount: Int
    /// The last run that each instruction has seen to its end, to begin in its middle.
    private var runs: [Run]

    /// - Parameters:
    ///   - states: of all instructions; they must outlive this.
    ///   - stateCount: how many of them choose.
    ///   - bytes: the length of the text.
    ///   - limit: of the bits.
    init(
        _ states: UnsafeBufferPointer<ExpressionProgram.State>, stateCount: Int, bytes: Int,
        limit: Int
    ) {
        self.states = states
        placeCount = bytes + 1
        width = min(placeCount, limit / max(1, 2 * stateCount))
        byteCount = (2 * stateCount * width + 7) / 8
        runs = [Run](repeating: Run(), count: states.count)
        if byteCount > 0 { bits = Self.zeroed(byteCount) }
    }

    deinit { free(bits) }

    private static func zeroed(_ byteCount: Int) -> UnsafeMutablePointer<UInt8>? {
        calloc(byteCount, 1)?.bindMemory(to: UInt8.self, capacity: byteCount)
    }

    /// Moves the window on once the search is in its second half.
    func moveWindow(to place: Int) {
        guard place - base > width / 2, base + width < placeCount else { return }
        base = place
        free(bits)
        bits = byteCount > 0 ? Self.zeroed(byteCount) : nil
    }

    /// Whether `choice`, an instruction, is known to fail at `place`.
    @inline(__always)
    func fails(_ choice: Int, at place: Int) -> Bool {
        isSet(Int(states[choice].number), place)
    }

    /// The end of the look-around that `choice` is known to meet at `place`.
    @inline(__always)
    func metLookAround(_ choice: Int, at place: Int) -> Int? {
        let state = states[choice]
        guard state.lookAroundEnd >= 0, isSet(Int(state.number), place, isMet: true) else {
            return nil
        }
        return Int(state.lookAroundEnd)
    }

    /// Remembers that `choice` fails at all of `places`.
    func remember(_ choice: Int, failsAt places: ClosedRange<Int>) {
        runs[choice].end = -1
        set(Int(states[choice].number), places, isMet: false)
    }

    /// Remembers that `choice` meets the look-around that ends at `end` from all of `places`.
    func remember(_ choice: Int, meets end: Int, from places: ClosedRange<Int>) {
        guard Int(states[choice].lookAroundEnd) == end else { return }
        set(Int(states[choice].number), places, isMet: true)
    }

    /// The end of the run of `instruction` that `place` is in, if it is known and none of its places
    /// is known to fail.
    @inline(__always)
    func end(ofRunOf instruction: Int, around place: Int) -> Int? {
        let run = runs[instruction]
        return place >= run.start && place <= run.end ? run.end : nil
    }

    func remember(_ instruction: Int, run: Range<Int>) {
        runs[instruction] = Run(start: run.lowerBound, end: run.upperBound)
    }

    @inline(__always)
    private func isSet(_ number: Int, _ place: Int, isMet: Bool = false) -> Bool {
        guard let bits, number >= 0, place >= base, place - base < width else { return false }
        let index = plane(number, isMet) + place - base
        return bits[index >> 3] & (1 << UInt8(index & 7)) != 0
    }

    /// The first bit of a choice.
    @inline(__always)
    private func plane(_ number: Int, _ isMet: Bool) -> Int {
        (2 * number + (isMet ? 1 : 0)) * width
    }

    private func set(_ number: Int, _ places: ClosedRange<Int>, isMet: Bool) {
        let low = max(places.lowerBound, base)
        let high = min(places.upperBound, base + width - 1)
        guard let bits, number >= 0, low <= high else { return }
        let first = plane(number, isMet) - base
        for index in (first + low)...(first + high) {
            bits[index >> 3] |= 1 << UInt8(index & 7)
        }
    }
}
