import Foundation
import SkeinFormats
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinTraining

@Suite struct DecoderThreadsTests {
    private struct Refusal: Error {}

    @Test("every result arrives once, however many threads there are", arguments: [1, 2, 7])
    func results(threads: Int) throws {
        let pool = DecoderThreads(threadCount: threads)
        for count in [0, 1, 5, 100] {
            var received: [Int] = []
            try pool.forEach(count) { index, _, _ in
                index * index
            } receive: { index, result in
                #expect(result == index * index)
                received.append(index)
            }
            #expect(received.sorted() == Array(0..<count))
            if threads == 1 { #expect(received == Array(0..<count)) }
        }
    }

    @Test("an error of the receiver ends the work, and the pool can be used again")
    func refused() throws {
        let pool = DecoderThreads(threadCount: 3)
        // All of them together would take a minute; the receiver refuses long before that, however
        // late it wakes up.
        let count = 200_000
        for failing in [1, 4, 40] {
            let started = Mutex(0)
            var received = 0
            #expect(throws: Refusal.self) {
                try pool.forEach(count) { index, _, _ in
                    started.withLock { $0 += 1 }
                    Thread.sleep(forTimeInterval: 0.001)
                    return index
                } receive: { _, _ in
                    received += 1
                    if received == failing { throw Refusal() }
                }
            }
            #expect(received == failing)
            #expect(started.withLock { $0 } < count)
            var sum = 0
            try pool.forEach(10) { index, _, _ in
                index
            } receive: { _, result in
                sum += result
            }
            #expect(sum == 45)
        }
    }

    @Test("there are as many workspaces as jobs at once, not as threads")
    func workspaces() throws {
        let pool = DecoderThreads(threadCount: 8)
        var used: Set<ObjectIdentifier> = []
        for _ in 0..<300 {
            try pool.forEach(2) { _, workspace, _ in
                ObjectIdentifier(workspace)
            } receive: { _, workspace in
                used.insert(workspace)
            }
        }
        #expect(used.count <= 2)
    }

    @Test("no two jobs use one workspace at the same time")
    func exclusive() throws {
        let pool = DecoderThreads(threadCount: 4)
        let busy = Mutex<Set<ObjectIdentifier>>([])
        try pool.forEach(400) { _, workspace, _ in
            let isFree = busy.withLock { $0.insert(ObjectIdentifier(workspace)).inserted }
            Thread.sleep(forTimeInterval: 0.000_05)
            busy.withLock { _ = $0.remove(ObjectIdentifier(workspace)) }
            return isFree
        } receive: { _, isFree in
            #expect(isFree)
        }
    }

    @Test("threads that only evaluate are part of the memory estimate")
    func estimate() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: model)
            let rows = (0..<60).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try rows.joined().write(
                toFile: directory + "/rows.jsonl", atomically: true, encoding: .utf8)
            var configuration = TrainingConfiguration.fixed
            configuration.microBatchTokens = 1
            configuration.batchSize = 4
            configuration.validationSplit = 0.5
            func estimate(_ threads: Int) throws -> MemoryEstimate {
                try TrainingJob(
                    configuration: configuration, modelPath: model,
                    dataPath: directory + "/rows.jsonl", version: "test"
                ).memoryEstimate(
                    residence: .resident, checkpointing: configuration.gradientCheckpointing,
                    threads: threads)
            }
            let (few, many) = (try estimate(4), try estimate(64))
            #expect(few.threads == 4 && few.judging == 0)
            // 4 micro-batches make a step; 30 validation rows are evaluated one by one.
            #expect(many.threads == 4 && many.workspace == few.workspace)
            #expect(many.judging > 0 && many.judging < 26 * many.workspace)
            #expect(many.total == few.total + many.judging)
            // Packed into one batch they take more than a step that trains one row at a time.
            configuration.gradientCheckpointing = true
            configuration.batchSize = 1
            let narrow = try estimate(1)
            configuration.microBatchTokens = 512
            let packed = try estimate(1)
            #expect(narrow.judging == 0 && packed.judging > 0)
            #expect(packed.workspace == narrow.workspace)
            configuration.validationSplit = 0
            #expect(try estimate(64).judging == 0)
        }
    }
}
