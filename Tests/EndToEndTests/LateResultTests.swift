import Basics
import Coordination
import Formats
import Foundation
import Models
import TestSupport
import Testing
import Training

@testable import Nodes

/// Results that come twice, too late, or from somebody who was not asked; and members that say
/// nothing any more.
@Suite("late results", .serialized)
struct LateResultTests {
    /// A member that computes what a worker would, when it is told to.
    private final class Member {
        let peer: HostilePeer
        private let engine: WorkerEngine
        private let workspace = DecoderWorkspace()

        init(_ cluster: ClusterBench, name: String, threads: UInt16 = 1) throws {
            peer = try HostilePeer(cluster.address, name: name)
            try peer.authenticate()
            let model = try ModelDirectory.open(cluster.bench.model)
            let engine = try WorkerEngine(
                offer: peer.offer, model: model, threads: 1, residence: .resident)
            let term = try peer.offer.term
            peer.takeParameters = { update in
                if !engine.parameters.receive(update, term: term) {
                    Issue.record("an update that leads nowhere")
                }
            }
            self.engine = engine
            try peer.join(threads: threads)
        }

        func result(of lease: LeaseGrant) throws -> WorkResult {
            let job = ComputeThreads.Job(lease: lease, term: try peer.offer.term)
            return try #require(
                try engine.perform(job, workspace: workspace) { _ in
                    Issue.record("parameters are missing")
                })
        }

        /// Says a result, and what the coordinator makes of it.
        func hand(_ result: WorkResult) throws -> ResultAnswer {
            peer.say(.result(result))
            return try peer.answer(to: result.key)
        }
    }

    @Test("a second one is a duplicate, one of a closed step is stale, and one may help out")
    func secondResults() throws {
        try FaultBench.withCluster { cluster in
            let slow = try Member(cluster, name: "slow")
            let lease = try slow.peer.lease()
            // Nobody has leased this to the other one; it is right all the same.
            let quick = try Member(cluster, name: "quick")
            var next = try quick.peer.lease()
            var early = try slow.result(of: lease)
            // The ledger does not take a worker's word for it.
            early.attempt = 77
            #expect(try quick.hand(early).verdict == .accepted)
            let cancelled = try slow.peer.wait { message in
                if case .cancellation(let cancellation) = message { cancellation.key } else { nil }
            }
            #expect(cancelled == lease.key)
            for member in [slow, quick] {
                let again = try member.hand(early)
                #expect(again.verdict == .duplicate)
                #expect(again.detail.contains("quick came first"), "\(again)")
            }
            // A second one that says something else changes nothing.
            early.digest[0] ^= 1
            #expect(try slow.hand(early).verdict == .duplicate)
            try cluster.coordinator.waitForError("gave different results")
            slow.peer.say(.leave(Leave(reason: .draining)))
            slow.peer.hangUp()

            while next.key.round == 1 {
                #expect(try quick.hand(try quick.result(of: next)).verdict == .accepted)
                next = try quick.peer.lease()
            }
            let ledger = cluster.bench.path(cluster.output) + "/ledger.jsonl"
            #expect(try !cluster.bench.text(ledger).contains("\"attempt\":77"))
            let late = try quick.hand(early)
            #expect(late.verdict == .stale)
            #expect(late.detail.contains("step 2"), "\(late)")
            quick.peer.say(.leave(Leave(reason: .draining)))
            quick.peer.hangUp()
            guard try quick.peer.offer.fingerprint == Engine.fingerprint(.fp32) else {
                // This process has other kernels than skein chose for itself.
                try cluster.startWorker("healthy")
                try cluster.finish()
                return
            }
            try FaultBench.finish(cluster)
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
            // "silent for 2.5 s", or more where the coordinator had to wait for its turn.
            let log = cluster.coordinator.errorText
            let silence = try #require(log.firstMatch(of: /silent for ([0-9.]+) s/), "\(log)")
            #expect(try #require(Double(silence.1)) >= 2.4)
            #expect(try first.rejection()?.code == .timeout)
            // With somebody beside it, nobody waits as long: its work is shared after 0.75 s.
            let second = try HostilePeer(cluster.address, name: "half-open-too")
            try second.join()
            _ = try second.lease()
            try FaultBench.finish(cluster)
        }
    }

    @Test("a member that lives, takes work and gives nothing back does not stop the run")
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

    @Test("a newer process of the same name takes the place of the older one, which is told so")
    func superseded() throws {
        try FaultBench.withCluster { cluster in
            let old = try HostilePeer(cluster.address, name: "healthy")
            try old.join()
            _ = try old.lease()
            try cluster.startWorker("healthy")
            let rejection = try old.rejection()
            #expect(rejection?.code == .superseded, "\(rejection as Any)")
            try FaultBench.finish(cluster, worker: nil)
        }
    }
}
