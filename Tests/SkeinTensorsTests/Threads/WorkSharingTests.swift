import Foundation
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinTensors

/// Threads that help others with their products change no bits, and stop when they are called.
@Suite struct WorkSharingTests {
    /// Runs `body` on thread 0 while the others help.
    private func shared<Result>(
        _ threads: Int, _ body: (WorkSharing.Place) -> Result
    ) -> (Result, WorkSharing) {
        let sharing = WorkSharing(threadCount: threads)
        let ended = DispatchSemaphore(value: 0)
        sharing.enter()
        for number in 1..<max(threads, 1) {
            let thread = Thread {
                sharing.help(as: number) { false }
                ended.signal()
            }
            thread.start()
        }
        let place = sharing.place(of: 0)
        while threads > 1, !place.hasHelpers { Thread.sleep(forTimeInterval: 0.001) }
        let result = body(place)
        sharing.leave()
        for _ in 1..<max(threads, 1) { ended.wait() }
        return (result, sharing)
    }

    @Test("a shared fp32 product has the bits of one thread's", arguments: [1, 2, 4])
    func single(threads: Int) {
        let (m, n, k) = (97, 1100, 130)
        let a = Operand.numbers(m * k, 1)
        let b = Operand.numbers(n * k, 2)
        for opB in [MatMul.Operand.plain, .transposed] {
            func product(_ place: WorkSharing.Place?) -> [Float] {
                var c = Operand.numbers(m * n, 3)
                let matMul = MatMul().sharing(place)
                for _ in 0..<20 {
                    matMul(
                        m: m, n: n, k: k, a, strideA: k, b, opB, strideB: opB == .plain ? n : k,
                        into: &c, strideC: n, accumulating: true)
                }
                return c
            }
            let own = shared(threads) { product($0) }.0
            #expect(own == product(nil))
        }
    }

    @Test("shared scores that a causal mask leaves out are others', too", arguments: [2, 4])
    func causal(threads: Int) {
        let (queries, keys, width) = (64, 3000, 64)
        let q = Operand.numbers(queries * width, 1)
        let k = Operand.numbers(keys * width, 2)
        let seen = keys - queries + 1
        func scores(_ place: WorkSharing.Place?) -> [[Float]] {
            var c = [Float](repeating: 3, count: queries * keys)
            let matMul = MatMul().sharing(place)
            for _ in 0..<20 {
                matMul(
                    m: queries, n: keys, k: width, q, strideA: width, k, .transposed,
                    strideB: width, into: &c, strideC: keys, causal: .result(seen: seen))
            }
            return (0..<queries).map { Array(c[$0 * keys..<$0 * keys + seen + $0]) }
        }
        let own = shared(threads) { scores($0) }.0
        #expect(own == scores(nil))
    }

    @Test("a shared bf16 product has the bits of one thread's", arguments: [2, 4])
    func packed(threads: Int) throws {
        let (m, n, k) = (97, 1100, 260)
        let x = Operand.numbers(m * k, 1)
        let matrix = try PackedMatrix(outputs: n, inputs: k, for: .forward)
        matrix.pack(Operand.numbers(n * k, 2), first: 0, count: n)
        let room = FloatBuffer(count: RoundedRows.bytes(rows: m, columns: k) / 4)
        let rounded = RoundedRows(rounding: x, stride: k, rows: m, columns: k, in: room.base)
        func product(_ place: WorkSharing.Place?) -> ([Float], [UInt16]) {
            var sums = Operand.numbers(m * n, 3)
            var scratch = sums
            var halves = [UInt16](repeating: 0, count: m * RoundedRows.stride(columns: n))
            for _ in 0..<20 {
                matrix.multiply(rounded, into: &sums, stride: n, accumulating: true, place: place)
                matrix.multiply(rounded, into: &scratch, stride: n, rounded: &halves, place: place)
            }
            return (sums, halves)
        }
        let own = shared(threads) { product($0) }.0
        let alone = product(nil)
        #expect(own.0 == alone.0 && own.1 == alone.1)
    }

    @Test("a thread without work computes parts of another's product")
    func helps() {
        let both = Meeting(of: 2)
        let (met, sharing) = shared(2) { place in
            // Neither part ends before the other has begun, so one thread cannot do both.
            place.run(columns: 2 * WorkSharing.Place.partWidth(columns: 128)) { _, _ in
                both.arrive(patience: 120)
            }
            return both.isComplete
        }
        #expect(met)
        #expect(sharing.helped.load(ordering: .relaxed) == 1)
    }

    @Test("parts of a product are whole panels, and no more than can be counted")
    func parts() {
        #expect(WorkSharing.Place.partWidth(columns: 128) == 64)
        #expect(WorkSharing.Place.partWidth(columns: 8192) == 128)
        for columns in [1 << 23, 65_535 * 128 + 1, 1 << 31] {
            let width = WorkSharing.Place.partWidth(columns: columns)
            #expect(width % 64 == 0 && (columns + width - 1) / width <= 65_535)
        }
    }

    /// Threads wait here until all are here.
    private final class Meeting: @unchecked Sendable {
        // All that changes is under the condition's lock.
        private let condition = NSCondition()
        private var missing: Int

        init(of count: Int) { missing = count }

        var isComplete: Bool {
            condition.lock()
            defer { condition.unlock() }
            return missing <= 0
        }

        func arrive(patience: TimeInterval) {
            let limit = Date(timeIntervalSinceNow: patience)
            condition.lock()
            missing -= 1
            condition.broadcast()
            while missing > 0, condition.wait(until: limit) {}
            condition.unlock()
        }
    }

    @Test("a helper stops when it is called, and when no thread has work any more")
    func ends() {
        let sharing = WorkSharing(threadCount: 2)
        sharing.help(as: 0) { false }
        sharing.enter()
        var asked = 0
        sharing.help(as: 1) {
            asked += 1
            return asked == 5000
        }
        #expect(asked == 5000)
        #expect(!sharing.place(of: 0).hasHelpers)
    }

    private enum Operand {
        static func numbers(_ count: Int, _ stream: UInt32) -> [Float] {
            CentralDifference.numbers(count, seed: 41, stream: stream)
        }
    }
}
