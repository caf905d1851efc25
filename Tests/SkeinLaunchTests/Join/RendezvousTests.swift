import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinLaunch

@Suite struct RendezvousTests {
    private static let task = TaskCard(
        rank: 0, host: "n1", process: 77, launcher: "Slurm", job: "12", restarts: 1,
        network: "boot-net:[1]")
    private static let notice = Rendezvous.Notice(
        state: .listening, addresses: ["10.0.0.5:40011", "n1:40011"],
        localAddress: "127.0.0.1:40011", task: task)

    private func with(_ body: (Rendezvous) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try body(Rendezvous(directory: directory + "/run/join"))
        }
    }

    @Test("what the coordinator says is read as it was written")
    func roundTrip() throws {
        try with { rendezvous in
            #expect(try rendezvous.read() == .nothing)
            try rendezvous.publish(Self.notice)
            #expect(try rendezvous.read() == .notice(Self.notice))
            var ended = Self.notice
            (ended.state, ended.addresses, ended.localAddress) = (.failed, [], nil)
            ended.detail = "no such \"file\""
            try rendezvous.publish(ended)
            #expect(try rendezvous.read() == .notice(ended))
        }
    }

    @Test("only a task in the same network namespace dials loopback")
    func local() {
        var reader = Self.task
        #expect(
            Self.notice.addresses(for: reader)
                == ["127.0.0.1:40011", "10.0.0.5:40011", "n1:40011"])
        reader.network = "boot-net:[2]"
        #expect(Self.notice.addresses(for: reader) == ["10.0.0.5:40011", "n1:40011"])
        reader.network = nil
        #expect(Self.notice.addresses(for: reader).count == 2)
    }

    @Test("cards say who was there")
    func cards() throws {
        try with { rendezvous in
            try rendezvous.leave(TaskCard(rank: 3, host: "n3", process: 9))
            try rendezvous.leave(TaskCard(rank: 1, host: "n2", process: 8, launcher: "MPI"))
            try rendezvous.leave(TaskCard(rank: nil, host: "n2", process: 8))
            #expect(try rendezvous.ranksSeen() == [1, 3])
            #expect(rendezvous.card(ofRank: 1)?.title == "task 1 on n2, process 8, MPI")
            #expect(rendezvous.card(ofRank: 2) == nil)
        }
        #expect(
            Self.task.title == "task 0 on n1, process 77, Slurm job 12, restarted 1 time")
    }

    @Test("one process has the coordinator's place at a time")
    func place() throws {
        try with { rendezvous in
            var first = try rendezvous.takePlace()
            #expect(first != nil)
            #expect(try rendezvous.takePlace() == nil)
            first = nil
            #expect(try rendezvous.takePlace() != nil)
        }
    }

    @Test("rivals are two processes of one start of one job")
    func rivals() {
        var other = Self.task
        #expect(!other.isRival(of: Self.task), "the same process")
        other.process = 78
        #expect(other.isRival(of: Self.task))
        other.restarts = 2
        #expect(!other.isRival(of: Self.task), "started again")
        other = Self.task
        (other.host, other.job) = ("n2", nil)
        #expect(!other.isRival(of: Self.task), "the job is not known")
    }

    /// A kill between any two bytes leaves no half file under the name; another system's copy
    /// might.
    @Test("a file that is not whole is damaged, wherever it was cut")
    func torn() throws {
        try with { rendezvous in
            try rendezvous.publish(Self.notice)
            let bytes = try RegularFile.bytes(
                of: rendezvous.noticeFile, from: 0, limit: Rendezvous.mostBytes)
            for count in 0..<bytes.count - 2 {
                guard case .damaged = Rendezvous.answer(Array(bytes[..<count])) else {
                    Issue.record("accepted after \(count) bytes")
                    return
                }
            }
            #expect(Rendezvous.answer(bytes) == .notice(Self.notice))
            // What a killed writer leaves beside it is not looked at.
            try Data("{".utf8).write(
                to: URL(fileURLWithPath: rendezvous.noticeFile + ".tmp-123"))
            #expect(try rendezvous.read() == .notice(Self.notice))
        }
    }

    @Test(
        "fields that are none of ours are damaged",
        arguments: [
            #"{"version":2}"#, "[]", "null", "7", #"{"version":1,"state":"listening"}"#,
            ##"{"version":1,"state":"gone","addresses":[],"host":"n","process":1,"restarts":0}"##,
            ##"{"version":1,"state":"listening","addresses":[],"host":"n","process":1,"restarts":0}"##,
            ##"{"version":1,"state":"listening","addresses":["n:0"],"host":"n","process":1,"restarts":0}"##,
            ##"{"version":1,"state":"listening","addresses":["; rm -rf"],"host":"n","process":1,"restarts":0}"##,
            ##"{"version":1,"state":"listening","addresses":["a","b","c","d","e","f","g","h","i"],"host":"n","process":1,"restarts":0}"##,
            ##"{"version":1,"state":"stopped","addresses":[],"host":"n\u001b[2J","process":1,"restarts":0}"##,
            ##"{"version":1,"state":"stopped","addresses":[],"host":"n","process":1,"restarts":0,"job":7}"##,
            ##"{"version":1,"state":"stopped","addresses":[],"host":"n","process":1,"restarts":0,"local_address":"x y"}"##,
        ])
    func hostile(text: String) {
        guard case .damaged = Rendezvous.answer(Array(text.utf8)) else {
            Issue.record("accepted: \(text)")
            return
        }
    }

    @Test("a huge file is not read in full, and control characters are not shown")
    func bounds() throws {
        #expect(
            Rendezvous.answer([UInt8](repeating: 0x20, count: 20_000))
                == .damaged("more than 16384 bytes"))
        let text =
            ##"{"version":1,"state":"failed","addresses":[],"host":"n","process":1,"restarts":0,"detail":"a\u001b[2Jb\u202ec"}"##
        guard case .notice(let notice) = Rendezvous.answer(Array(text.utf8)) else {
            Issue.record("refused")
            return
        }
        #expect(notice.detail == "a?[2Jb?c")
    }
}
