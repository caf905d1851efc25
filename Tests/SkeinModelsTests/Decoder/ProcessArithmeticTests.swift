import Foundation
import SkeinBasics
import SkeinTensors
import Synchronization
import Testing

@testable import SkeinModels

/// On a CPU without fused multiply-add, int8 changes the arithmetic of its process: `Engine.prepare`.
/// Every case is a process of its own: this one keeps its level.
@Suite struct ProcessArithmeticTests {
    /// Whether a compute type is refused because the process began with another.
    private static func refuses(_ compute: ComputeType, after begun: ComputeType) -> Bool {
        do {
            try Engine.prepare(compute)
            return false
        } catch {
            return error == .otherArithmetic(compute, begun: begun)
        }
    }

    @Test("a process that began with fp32 keeps its arithmetic, and refuses int8")
    func singleFirst() async {
        await #expect(processExitsWith: .success) {
            ProcessorLevel.plain.use()
            try Engine.prepare(.fp32)
            let fingerprint = Engine.fingerprint(.fp32)
            guard Self.refuses(.int8, after: .fp32) else { exit(2) }
            guard ProcessorLevel.current == .plain else { exit(3) }
            guard fingerprint.contains("no fma") else { exit(4) }
            try Engine.prepare(.bf16)
            try Engine.prepare(.fp32)
            guard Self.refuses(.int8, after: .fp32) else { exit(5) }
            guard Engine.fingerprint(.fp32) == fingerprint else { exit(6) }
        }
    }

    @Test("a process that began with int8 refuses fp32 and bf16")
    func integersFirst() async {
        await #expect(processExitsWith: .success) {
            ProcessorLevel.plain.use()
            try Engine.prepare(.int8)
            guard ProcessorLevel.current == .fused else { exit(2) }
            guard Self.refuses(.fp32, after: .int8) else { exit(3) }
            guard Self.refuses(.bf16, after: .int8) else { exit(4) }
            try Engine.prepare(.int8)
        }
    }

    @Test("of threads that begin at the same time with both, one arithmetic wins")
    func together() async {
        await #expect(processExitsWith: .success) {
            ProcessorLevel.plain.use()
            let ready = DispatchSemaphore(value: 0)
            let go = DispatchSemaphore(value: 0)
            let done = DispatchSemaphore(value: 0)
            let threads = 32
            let admitted = Admitted()
            for index in 0..<threads {
                Thread.detachNewThread {
                    ready.signal()
                    go.wait()
                    let compute: ComputeType = index.isMultiple(of: 2) ? .fp32 : .int8
                    if (try? Engine.prepare(compute)) != nil { admitted.add(compute) }
                    done.signal()
                }
            }
            for _ in 0..<threads { ready.wait() }
            for _ in 0..<threads { go.signal() }
            for _ in 0..<threads { done.wait() }
            let types = admitted.types
            guard types.count == threads / 2, Set(types).count == 1 else { exit(2) }
            guard (ProcessorLevel.current == .plain) == (types[0] == .fp32) else { exit(3) }
        }
    }

    // On Arm `avx2` becomes the highest level that the machine has.
    @Test("with fused multiply-add nothing is refused", arguments: [ProcessorLevel.fused, .avx2])
    func fused(level: ProcessorLevel) async {
        await #expect(processExitsWith: .success) { [name = level.rawValue as String] in
            ProcessorLevel(rawValue: name)?.use()
            let before = ProcessorLevel.current
            for compute in ComputeType.allCases + ComputeType.allCases.reversed() {
                try Engine.prepare(compute)
            }
            guard before != .plain, ProcessorLevel.current == before else { exit(2) }
        }
    }

    @Test("the refusal says what, where and how to mend it")
    func sentence() {
        let explanation = EngineError.otherArithmetic(.int8, begun: .fp32).explanation
        #expect(
            explanation.what
                == "this process began with fp32 and cannot go on with int8: without fused multiply-add "
                + "(FMA), which this CPU lacks or SKEIN_CPU_LEVEL hides, int8 rounds otherwise than fp32 "
                + "and bf16")
        #expect(explanation.place == "--compute int8")
        #expect(explanation.remedy == "start a process for each compute type")
        #expect(explanation.status == .usage)
    }
}

/// What was admitted, by threads.
private final class Admitted: Sendable {
    private let list = Mutex<[ComputeType]>([])

    var types: [ComputeType] { list.withLock { $0 } }

    func add(_ compute: ComputeType) { list.withLock { $0.append(compute) } }
}
