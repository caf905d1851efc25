import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinLab
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCluster

/// Results that come twice, too late, or from a worker that was not asked; and members that fall
/// silent.
@Suite("late results", .ownThreads)
struct LateResultTests {
    /// A member that computes as a worker does, when it is told to.
    private final class Member {
        let peer: HostilePeer
        private let engine: ModelEngine
        private let workspace = DecoderWorkspace()

        init(_ cluster: ClusterHarness, name: String, threads: UInt16 = 1) throws {
            peer = try HostilePeer(cluster.address, name: name)
            try peer.authenticate()
            let model = try ModelDirectory.open(cluster.bench.model)
            let engine = try ModelEngine(
                offer: peer.offer, model: model, threads: 1, residence: .resident)
            let start = try peer.offer.start
            peer.takeParameters = { update in
                if !engine.parameters.receive(update, start: start) {
                    Issue.record("an update that leads nowhere")
                }
            }
            self.engine = engine
            try peer.join(threads: threads)
        }

        func result(of lease: LeaseGrant) throws -> WorkResult {
            let job = LeaseJob(lease: lease, start: try peer.offer.start)
            return try #require(
                try engine.perform(job, workspace: workspace) { _ in
                    Issue.record("parameters are missing")
                })
        }

        /// Sends a result; returns the coordinator's answer.
        func hand(_ result: WorkResult) throws -> ResultAnswer {
            peer.say(.result(result))
            return try peer.answer(to: result.key)
        }
    }

    @Test("a second result is a duplicate, a late one is stale, one of others' work is refused")
    func secondResults() throws {
        try FaultBench.withCluster { cluster in
            let slow = try Member(cluster, name: "slow")
            let lease = try slow.peer.lease()
            let quick = try Member(cluster, name: "quick")
            var next = try quick.peer.lease()
            var early = try slow.result(of: lease)
            // It is right, but it was never leased to this worker.
            let unasked = try quick.hand(early)
            #expect(unasked.verdict == .refused)
            #expect(unasked.detail.contains("was never leased to quick"), "\(unasked)")
            // The ledger does not trust a worker's number of the attempt.
            early.attempt = 77
            #expect(try slow.hand(early).verdict == .accepted)
            let again = try slow.hand(early)
            #expect(again.verdict == .duplicate)
            #expect(again.detail.contains("slow came first"), "\(again)")
            // A second one that differs is investigated, and its worker has to pause.
            early.digest[0] ^= 1
            #expect(try slow.hand(early).verdict == .duplicate)
            let rejection = try slow.peer.rejection()
            #expect(rejection?.code == .quarantined)
            #expect(rejection?.reason.contains("gave two different results") == true)
            try cluster.coordinator.waitForError("quick computes it, too")

            while next.key.round == 1 {
                let answer = try quick.hand(try quick.result(of: next))
                // It was asked as a judge: the accepted result is right.
                let isOpinion = next.key == lease.key
                #expect(answer.verdict == (isOpinion ? .duplicate : .accepted), "\(answer)")
                next = try quick.peer.lease()
            }
            let ledger = cluster.work.path(cluster.output) + "/ledger.jsonl"
            #expect(try !cluster.bench.text(ledger).contains("\"attempt\":77"))
            let late = try quick.hand(early)
            #expect(late.verdict == .stale)
            #expect(late.detail.contains("step 2"), "\(late)")
            quick.peer.say(.leave(Leave(reason: .draining)))
            quick.peer.hangUp()
            guard try quick.peer.offer.fingerprint == Engine.fingerprint(.fp32) else {
                // This process has other kernels than those that skein chose.
                try cluster.startWorker("healthy")
                try cluster.finish()
                return
            }
            try FaultBench.finish(cluster)
        }
    }

    @Test("when two disagree a third is asked; the wrong one is named, the step computed again")
    func dispute() throws {
        try FaultBench.withCluster { cluster in
            let liar = try Member(cluster, name: "liar")
            let lie = try liar.peer.lease()
            guard try liar.peer.offer.fingerprint == Engine.fingerprint(.fp32) else {
                // This process has other kernels than those that skein chose.
                liar.peer.hangUp()
                try FaultBench.finish(cluster)
                return
            }
            let honest = try Member(cluster, name: "honest")
            let first = try honest.peer.lease()
            // The third keeps its piece, so that the step stays open.
            let third = try Member(cluster, name: "third")
            let kept = try third.peer.lease()
            #expect(try honest.hand(try honest.result(of: first)).verdict == .accepted)
            func alive() throws {
                for member in [liar, third] {
                    let nothing: Bool? = try member.peer.wait(seconds: 0.02) { _ in nil }
                    #expect(nothing == nil)
                }
            }
            // An idle worker gets what waits at the liar, and then what the liar takes too long
            // for.
            var second: LeaseGrant?
            while second == nil, cluster.coordinator.isRunning {
                try alive()
                let lease = try honest.peer.wait(seconds: 0.1) { message in
                    if case .lease(let lease) = message { lease } else { nil }
                }
                guard let lease else { continue }
                if lease.key == lie.key {
                    second = lease
                } else {
                    #expect(try honest.hand(try honest.result(of: lease)).verdict == .accepted)
                }
            }
            let count = try HostileResultTests.parameterCount(
                liar.peer.offer, model: cluster.bench.model)
            let wrong = try HostileResultTests.result(
                for: lie, of: liar.peer.offer, gradient: [Float](repeating: 0.25, count: count))
            try alive()
            #expect(try liar.hand(wrong).verdict == .accepted)
            let right = try honest.result(of: try #require(second))
            try alive()
            #expect(try honest.hand(right).verdict == .duplicate)
            let opinion = try #require(
                try third.peer.wait { message -> LeaseGrant? in
                    if case .lease(let lease) = message, lease.key == lie.key { lease } else { nil }
                })
            #expect(kept.key != lie.key)
            #expect(try third.hand(try third.result(of: opinion)).verdict == .duplicate)
            let rejection = try liar.peer.rejection()
            #expect(rejection?.code == .quarantined)
            #expect(rejection?.reason.contains("not that of honest and third") == true)
            try cluster.coordinator.waitForError("step 1 is computed again")
            for member in [honest, third] {
                member.peer.say(.leave(Leave(reason: .draining)))
                member.peer.hangUp()
            }
            try FaultBench.finish(cluster)
            #expect(cluster.coordinator.errorText.contains("liar must pause"))
        }
    }

    @Test("a member that is alive but stuck is rejected; without another one the run ends")
    func stuck() throws {
        try FaultBench.withCluster(["--patience", "3s"]) { cluster in
            let hole = try HostilePeer(cluster.address, name: "hole")
            try hole.join()
            _ = try hole.lease()
            var rejection: Rejection?
            while rejection == nil, cluster.coordinator.isRunning {
                rejection = try hole.rejection(seconds: 1)
            }
            #expect(rejection?.code == .stuck)
            #expect(rejection?.reason.contains("has made no progress for") == true)
            hole.hangUp()
            let ending = try cluster.coordinator.wait(seconds: 60)
            #expect(ending.status == 69, "\(ending.error)")
        }
    }

    @Test("a member that neither reads nor writes any more is lost after 2.5 s of silence")
    func halfOpen() throws {
        try FaultBench.withCluster { cluster in
            let first = try HostilePeer(cluster.address, name: "half-open")
            let began = ContinuousClock.now
            try first.join()
            _ = try first.lease()
            try cluster.coordinator.waitForError("lost half-open")
            let time = ContinuousClock.now - began
            #expect(time > .seconds(2.4), "\(time)")
            // "silent for 2.5 s", or more where the coordinator had to wait for a processor.
            let log = cluster.coordinator.errorText
            let silence = try #require(log.firstMatch(of: /silent for ([0-9.]+) s/), "\(log)")
            #expect(try #require(Double(silence.1)) >= 2.4)
            #expect(try first.rejection()?.code == .timeout)
            // With another worker, nothing waits as long: its work is shared after 0.75 s.
            let second = try HostilePeer(cluster.address, name: "half-open-too")
            try second.join()
            _ = try second.lease()
            try FaultBench.finish(cluster)
        }
    }

    @Test("a member that is alive, takes work and returns nothing does not stop the run")
    func blackHole() throws {
        try FaultBench.withCluster { cluster in
            let hole = try HostilePeer(cluster.address, name: "hole")
            try hole.join(threads: 2)
            _ = try hole.lease()
            try cluster.startWorker("healthy")
            while cluster.coordinator.isRunning {
                if try hole.hear(seconds: 0.2) == .closed { break }
            }
            try FaultBench.finish(cluster, worker: nil)
        }
    }

    @Test("who is heard keeps its name; a newcomer waits, and works once the other is silent")
    func nameTaken() throws {
        try FaultBench.withCluster { cluster in
            let old = try HostilePeer(cluster.address, name: "healthy")
            try old.join()
            _ = try old.lease()
            let newcomer = try HostilePeer(cluster.address, name: "healthy")
            try newcomer.prove()
            let told = try newcomer.rejection()
            #expect(told?.code == .nameTaken && (told?.retryMilliseconds ?? 0) > 0)
            let worker = try cluster.startWorker("healthy")
            // The one that is heard keeps it for as long as that lasts.
            while !worker.errorText.contains("has this name") {
                try #require(try old.hear(seconds: 0.1) != .closed)
            }
            // The coordinator has proved that it says so.
            #expect(!worker.errorText.contains("has not proved the token"))
            try FaultBench.finish(cluster, worker: nil)
            #expect(cluster.coordinator.errorText.contains("lost healthy"))
        }
    }
}
