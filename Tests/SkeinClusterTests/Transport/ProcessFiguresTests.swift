import Foundation
import Testing

@testable import SkeinCluster

@Suite("figures of the process")
struct ProcessFiguresTests {
    @Test("processor time counts a thread's work and not its sleep")
    func processorTime() throws {
        let process = try #require(ProcessFigures.processorSeconds)
        let thread = try #require(ProcessFigures.threadProcessorSeconds)
        usleep(50_000)
        let slept = try #require(ProcessFigures.threadProcessorSeconds) - thread
        #expect(slept < 0.04)
        while try #require(ProcessFigures.threadProcessorSeconds) < thread + 0.05 {}
        #expect(try #require(ProcessFigures.processorSeconds) >= process + 0.04)
    }

    #if os(Linux)
        @Test("the time since the start follows the clock, and is not below processor time")
        func start() throws {
            let before = try #require(ProcessFigures.secondsSinceStart)
            usleep(50_000)
            // First, since other tests use the processor while this one waits.
            let used = try #require(ProcessFigures.processorSeconds)
            let after = try #require(ProcessFigures.secondsSinceStart)
            #expect(after >= before + 0.04)
            let cores = Double(ProcessInfo.processInfo.processorCount)
            // A tick of the clock is 10 ms.
            #expect((after + 0.02) * cores >= used - 0.05)
        }

        @Test("resident memory counts touched pages")
        func resident() throws {
            // Other tests in this process may free memory at the same moment, but not each time.
            var growth: [Int] = []
            while growth.count < 20, !growth.contains(where: { $0 > 32 << 20 }) {
                let before = try #require(ProcessFigures.residentBytes)
                let size = 64 << 20
                let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
                defer { block.deallocate() }
                memset(block, 1, size)
                growth.append(Int(try #require(ProcessFigures.residentBytes)) - Int(before))
            }
            #expect(growth.contains { $0 > 32 << 20 }, "\(growth)")
        }
    #endif

    @Test("the limit on open files is raised once, and not lowered")
    func openFiles() throws {
        let first = try #require(ProcessFigures.raiseFileLimit())
        #expect(try #require(ProcessFigures.raiseFileLimit()) == first)
        #expect(first >= 1024)
    }
}
