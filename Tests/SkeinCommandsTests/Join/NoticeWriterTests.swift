import Foundation
import SkeinBasics
import SkeinLaunch
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinCommands

/// What a coordinator leaves in the folder in which its workers look for it.
@Suite("a coordinator's notices")
struct NoticeWriterTests {
    private typealias Notice = Rendezvous.Notice

    private final class Warnings: Sendable {
        let all = Mutex<[String]>([])
        var log: Log {
            Log { _, text in self.all.withLock { $0.append(text) } }
        }
    }

    private func card(_ job: String) -> TaskCard {
        TaskCard(rank: 0, host: "h", process: 1, job: job)
    }

    private func state(_ rendezvous: Rendezvous) throws -> Notice.State? {
        guard case .notice(let notice) = try rendezvous.read() else { return nil }
        return notice.state
    }

    @Test("it says where it listens, and how the run ended")
    func quiet() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let rendezvous = Rendezvous(directory: directory + "/join")
            let writer = NoticeWriter(rendezvous, card("a"), log: Log(isQuiet: true))
            try writer.prepare(renewedEvery: .seconds(60))
            #expect(try state(rendezvous) == .starting)
            try writer.listening(at: ["127.0.0.1:1"], localAddress: nil)
            #expect(try state(rendezvous) == .listening)
            writer.ended(.complete)
            #expect(try state(rendezvous) == .complete)
        }
    }

    @Test("a notice of another, or whose writer cannot be told, is left alone")
    func others() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let rendezvous = Rendezvous(directory: directory + "/join")
            let file = rendezvous.noticeFile
            let warnings = Warnings()
            let writer = NoticeWriter(rendezvous, card("a"), log: warnings.log)
            try writer.prepare(renewedEvery: .seconds(60))

            let other = Notice(
                state: .listening, addresses: ["127.0.0.1:2"], localAddress: nil, task: card("b"))
            try rendezvous.publish(other)
            #expect(
                throws: TaskError.twoCoordinators(
                    own: card("a"), other: card("b"), directory: rendezvous.directory)
            ) { try writer.listening(at: ["127.0.0.1:1"], localAddress: nil) }
            writer.ended(.failed, "why")
            #expect(try rendezvous.read() == .notice(other))
            #expect(warnings.all.withLock { $0 }.isEmpty)

            let newer = "{\"version\":2}\n"
            try AtomicFile.write(newer, to: file)
            #expect(
                throws: TaskError.unclearNotice(
                    file: file, detail: "not of version 1, which this skein reads")
            ) { try writer.listening(at: ["127.0.0.1:1"], localAddress: nil) }
            writer.ended(.failed, "why")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == newer)

            try DiskStore().remove(file)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file)
            #expect(throws: FileError.failed(operation: "open", path: file, code: ELOOP)) {
                try writer.listening(at: ["127.0.0.1:1"], localAddress: nil)
            }
            writer.ended(.stopped)
            // Each end that is not told is said here, with the place and what to do.
            let said = warnings.all.withLock { $0 }
            #expect(said.count == 2)
            #expect(said.first?.contains("(\(file)); see whether another task") == true)
        }
    }
}
