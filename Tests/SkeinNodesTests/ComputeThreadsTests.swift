import SkeinCoordination
import SkeinTraining
import Testing

@testable import SkeinNodes

@Suite("the threads of a worker")
struct ComputeThreadsTests {
    private static func job(_ index: UInt32) -> ComputeThreads.Job {
        ComputeThreads.Job(
            lease: LeaseGrant(
                key: WorkKey(round: 1, index: index), attempt: 1, kind: .gradient, step: 1,
                parameterVersion: 1, rows: []),
            term: 1)
    }

    @Test("a job that waits when the threads are closed is done before their end is told")
    func closedWithWork() throws {
        let events = Condition<[String]>([])
        let (begun, gate, ended) = (Promise<Bool>(), Promise<Bool>(), Promise<Bool>())
        let threads = ComputeThreads(count: 1) { _, job, _ in
            events.change { $0.append("job \(job.lease.key.index)") }
            begun.keep(true)
            #expect(gate.value(within: 60) == true)
        }
        threads.start(0, Self.job(0))
        #expect(begun.value(within: 60) == true)
        threads.start(0, Self.job(1))
        threads.close {
            events.change { $0.append("the end") }
            ended.keep(true)
        }
        gate.keep(true)
        #expect(ended.value(within: 60) == true)
        #expect(events.change { $0 } == ["job 0", "job 1", "the end"])
    }
}
