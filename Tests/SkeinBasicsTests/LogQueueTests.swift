import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinBasics

@Suite("log queue") struct LogQueueTests {
    /// A pipe that holds as little as the system allows.
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() {
            (reading, writing) = ClosingDescriptors.pipe()
            #if os(Linux)
                // F_SETPIPE_SZ
                _ = fcntl(writing, 1031, 4096)
            #endif
        }

        /// Reads until `isEnough` accepts all that was read.
        func read(until isEnough: (String) -> Bool) -> String {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while !isEnough(String(decoding: bytes, as: UTF8.self)) {
                let count = Foundation.read(reading, &chunk, chunk.count)
                guard count > 0 else { break }
                bytes += chunk[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Shows what it is told, in brackets.
    private struct Brackets: LogPanel {
        func bytes(writing text: [UInt8]?) -> [UInt8] {
            Array("[".utf8) + (text ?? Array("drawn".utf8)) + Array("]".utf8)
        }

        func closingBytes() -> [UInt8] { Array("closed".utf8) }
    }

    @Test("a panel gets the lines until it ends; many lines at once are few drawings")
    func panel() {
        let pipe = Pipe()
        let queue = LogQueue(descriptor: pipe.writing, byteLimit: 1 << 20)
        queue.put("before\n")
        #expect(queue.flush(within: .seconds(60)))
        queue.drawPanel()
        queue.begin(Brackets())
        queue.drawPanel()
        var text = pipe.read { $0.hasSuffix("]") }
        #expect(text == "before\n[drawn]")
        for number in 0..<100 { queue.put("line \(number)\n") }
        queue.endPanel()
        queue.endPanel()
        queue.put("after\n")
        text = pipe.read { $0.hasSuffix("after\n") }
        let lines = (0..<100).map { "line \($0)\n" }.joined()
        #expect(text.filter { $0 != "[" && $0 != "]" } == lines + "closedafter\n")
        #expect(text.hasPrefix("[line 0\n") && text.hasSuffix("]closedafter\n"))
        queue.drawPanel()
        queue.put("more\n")
        #expect(pipe.read { $0.hasSuffix("\n") } == "more\n")
    }

    @Test("lines arrive in their order, and flush waits for them")
    func order() {
        let pipe = Pipe()
        let queue = LogQueue(descriptor: pipe.writing, byteLimit: 1 << 20)
        for number in 0..<100 { queue.put("line \(number)\n") }
        #expect(queue.flush(within: .seconds(60)))
        let text = pipe.read { $0.hasSuffix("line 99\n") }
        #expect(text == (0..<100).map { "line \($0)\n" }.joined())
    }

    @Test(
        "no writer waits for a reader that has stopped; dropped lines are counted and reported",
        arguments: ["", "{"])
    func stuck(beginning: String) throws {
        let pipe = Pipe()
        let limit = 64 << 10
        let queue = LogQueue(descriptor: pipe.writing, byteLimit: limit)
        let count = 10_000
        // 64 bytes each: ten times what pipe and queue hold. A queue that blocks would hang here.
        for number in 0..<count {
            let text = beginning + "line \(number) "
            queue.put(text + String(repeating: ".", count: 63 - text.utf8.count) + "\n")
        }
        #expect(!queue.flush(within: .milliseconds(1)))
        let mark = "log lines were dropped because they were not read"
        let text = pipe.read { $0.contains(mark) && $0.hasSuffix("\n") }
        let lines = text.split(separator: "\n")
        let notice = try #require(lines.first { $0.contains(mark) })
        let digits = notice.drop { !$0.isNumber }.prefix { $0.isNumber }
        let dropped = try #require(Int(digits))
        #expect(lines.count - 1 + dropped == count)
        #expect(dropped > count / 2)
        #expect(notice.hasPrefix(beginning == "{" ? "{\"level\":\"warning\"" : "warning: "))
        for (number, line) in lines.dropLast().enumerated() {
            #expect(line.hasPrefix(beginning + "line \(number) "))
        }
        // There is room again.
        queue.put("after\n")
        #expect(pipe.read { $0.hasSuffix("after\n") } == "after\n")
        #expect(queue.flush(within: .seconds(60)))
    }

    @Test("an error is still taken when the queue is full")
    func urgent() {
        let pipe = Pipe()
        let queue = LogQueue(descriptor: pipe.writing, byteLimit: 16 << 10)
        for _ in 0..<10_000 { queue.put("a line of twenty two b\n") }
        queue.put("error: the reason\n", isUrgent: true)
        let text = pipe.read { $0.contains("were dropped") && $0.hasSuffix("\n") }
        #expect(text.contains("\nerror: the reason\n"))
    }

    @Test("a reader that is gone costs nothing")
    func gone() {
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        close(pipe.reading)
        let queue = LogQueue(descriptor: pipe.writing, byteLimit: 1 << 10)
        for number in 0..<1000 { queue.put("line \(number)\n") }
        #expect(queue.flush(within: .seconds(60)))
    }

    @Test("a wait ends at its deadline, or when something has changed")
    func condition() {
        let condition = TimedCondition()
        let began = ContinuousClock.now
        condition.withLock {
            while condition.wait(until: began + .milliseconds(20)) {}
        }
        #expect(ContinuousClock.now >= began + .milliseconds(20))
        final class Box: @unchecked Sendable { var isSet = false }
        let box = Box()
        let thread = Thread {
            condition.withLock {
                box.isSet = true
                condition.broadcast()
            }
        }
        thread.start()
        let isSet = condition.withLock {
            while !box.isSet, condition.wait(until: .now + .seconds(60)) {}
            return box.isSet
        }
        #expect(isSet)
    }
}
