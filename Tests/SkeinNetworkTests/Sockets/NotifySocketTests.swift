import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

/// The protocol of sd_notify(3).
@Suite struct NotifySocketTests {
    @Test("a message arrives at a path and at an abstract name")
    func arrives() throws {
        try TestPaths.withTemporaryDirectory { directory in
            for address in [directory + "/notify", "@skein-test-\(UUID().uuidString)"] {
                let listener = try NotifyListener(address)
                let socket = try NotifySocket(address)
                #expect(socket.send(["READY=1", "STATUS=goose"]))
                listener.hear()
                #expect(listener.lines == ["READY=1", "STATUS=goose"])
            }
        }
    }

    @Test("an address of the longest length works, and a longer one is not accepted")
    func longest() throws {
        let name = "@skein-" + UUID().uuidString
        let longest = name + String(repeating: "x", count: 107 - name.utf8.count)
        let listener = try NotifyListener(longest)
        #expect(try NotifySocket(longest).send(["READY=1"]))
        listener.hear()
        #expect(listener.lines == ["READY=1"])
        #expect(!NotifySocket.accepts(longest + "x"))
    }

    @Test(
        "other addresses are not accepted",
        arguments: ["", "/", "@", "notify", "./notify", "vsock:2:1234", "/a\0b"])
    func refused(address: String) {
        #expect(!NotifySocket.accepts(address))
    }

    @Test("a message that is not taken is reported and blocks no caller")
    func untaken() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let address = directory + "/notify"
            let socket = try NotifySocket(address)
            #expect(!socket.send(["READY=1"]))
            // A manager that comes later, or comes back, is heard by.
            let listener = try NotifyListener(address)
            #expect(socket.send(["READY=1"]))
            // It does not read: its queue fills, and then nothing more is taken.
            var sent = 1
            while socket.send(["STATUS=\(sent)"]), sent < 100_000 { sent += 1 }
            #expect(sent < 100_000)
            listener.hear()
            #expect(listener.lines.count == sent)
            #expect(socket.send(["STATUS=again"]))
        }
    }
}
