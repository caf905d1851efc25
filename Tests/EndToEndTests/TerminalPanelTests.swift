import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// A coordinator on a pseudo terminal, which is resized while the panel is up.
@Suite("the panel on a terminal", .ownThreads)
struct TerminalPanelTests {
    /// The side of a pseudo terminal that a person sees.
    private final class Screen {
        let path: String
        private let descriptor: Int32
        private(set) var emulator: TerminalEmulator
        private(set) var bytes: [UInt8] = []
        private var fed = 0

        init(columns: Int, rows: Int) throws {
            // posix_openpt and its like are not in Swift's Glibc: TIOCSPTLCK and TIOCGPTN of Linux.
            descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var (lock, number): (Int32, UInt32) = (0, 0)
            try #require(
                ioctl(descriptor, 0x4004_5431, &lock) == 0
                    && ioctl(descriptor, 0x8004_5430, &number) == 0)
            path = "/dev/pts/\(number)"
            emulator = TerminalEmulator(columns: columns, rows: rows)
            setSize(columns, rows)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        }

        deinit { close(descriptor) }

        private func setSize(_ columns: Int, _ rows: Int) {
            var size = winsize()
            (size.ws_col, size.ws_row) = (UInt16(columns), UInt16(rows))
            _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
        }

        func resize(columns: Int, rows: Int) {
            setSize(columns, rows)
            emulator.resize(columns: columns, rows: rows)
        }

        /// Shows all that has come.
        func read() {
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = Foundation.read(descriptor, &chunk, chunk.count)
                guard count > 0 else { break }
                bytes += chunk[..<count]
            }
            // Whole sequences and characters only: each write ends with one of the two.
            guard
                let end = bytes.lastIndex(where: { $0 == 0x0A || $0 == UInt8(ascii: "J") }),
                end >= fed
            else { return }
            emulator.feed(String(decoding: bytes[fed...end], as: UTF8.self))
            fed = end + 1
        }

        func wait(for what: String, _ isDone: ([String]) -> Bool) throws {
            try FaultBench.wait(seconds: SkeinProcess.patience, for: what) {
                read()
                return isDone(emulator.everything)
            }
        }

        /// A shell's line that gives a process this terminal as its standard error.
        func shell(_ more: String = "") -> String {
            "export TERM=xterm LC_ALL=C.UTF-8; unset NO_COLOR; \(more)\nexec \"$@\" 2>'\(path)'"
        }
    }

    private func words(_ bench: Workbench) -> [String] {
        ["coordinator"] + bench.trainWords("run", FaultBench.run).dropFirst()
            + ["--listen", "127.0.0.1:0"]
    }

    @Test("panel and lines do not mix, whatever the size; the last step's line stays")
    func wholeRun() throws {
        try Workbench.with { bench in
            let screen = try Screen(columns: 60, rows: 20)
            let coordinator = try SkeinProcess(words(bench), shell: screen.shell())
            try screen.wait(for: "the panel") { $0.contains { $0.contains("has waited") } }
            // Wider: a drawing that was made for the old size leaves nothing either.
            screen.resize(columns: 110, rows: 30)
            try screen.wait(for: "the panel at its new size") {
                $0.contains { $0.hasPrefix("step 1 has waited") && $0.count > 60 }
            }
            let line = try #require(
                screen.emulator.everything.first { $0.contains("--coordinator") })
            let address = try #require(
                line.split(separator: " ").last { $0.hasPrefix("127.0.0.1:") })
            let worker = try SkeinProcess([
                "worker", "--coordinator", String(address), "--name", "w", "--threads", "1",
                "--model", bench.model,
            ])
            try screen.wait(for: "the last line") { _ in !coordinator.isRunning }
            screen.read()
            #expect(try coordinator.wait().status == 0)
            #expect(try worker.wait().status == 0)
            let shown = screen.emulator.everything
            let last = "step \(FaultBench.steps)/\(FaultBench.steps)  epoch 2  loss "
            #expect(shown.contains { $0.hasPrefix(last) }, "\(shown)")
            #expect(shown.contains { $0.contains("checkpoint") })
            // Nothing is left of the panel.
            #expect(!shown.contains { $0.contains("has waited") || $0.contains("█") }, "\(shown)")
            #expect(screen.emulator.unknown.isEmpty)
            #expect(screen.emulator.column == 0)
            #expect(String(decoding: screen.bytes, as: UTF8.self).contains("\u{1b}[1mstep "))
            try FaultBench.verify(bench, "run")
        }
    }

    @Test("Ctrl-C leaves a clean screen; NO_COLOR is heeded")
    func interrupted() throws {
        try Workbench.with { bench in
            let screen = try Screen(columns: 100, rows: 24)
            let coordinator = try SkeinProcess(
                words(bench), shell: screen.shell("export NO_COLOR=1"))
            try screen.wait(for: "the panel") { $0.contains { $0.contains("has waited") } }
            coordinator.send(SIGINT)
            try screen.wait(for: "the end") { _ in !coordinator.isRunning }
            screen.read()
            #expect(try coordinator.wait().status == 130)
            let shown = screen.emulator.everything
            #expect(!shown.contains { $0.contains("has waited") || $0.contains("░") }, "\(shown)")
            #expect(shown.contains { $0.contains("stopping after this step") })
            // No looks: ESC [ digits m. (A line may begin with an m after ESC [ K.)
            let text = String(decoding: screen.bytes, as: UTF8.self)
            #expect(!text.contains(/\u{1b}\[[0-9;]*m/))
            #expect(screen.emulator.unknown.isEmpty)
        }
    }

    @Test("a terminal that cannot move its cursor gets lines alone")
    func dumb() throws {
        try Workbench.with { bench in
            let screen = try Screen(columns: 100, rows: 24)
            let train = try SkeinProcess(
                bench.trainWords("run", FaultBench.run), shell: screen.shell("export TERM=dumb"))
            try screen.wait(for: "the end") { _ in !train.isRunning }
            screen.read()
            #expect(try train.wait().status == 0)
            #expect(!screen.bytes.contains(0x1B))
            for step in 1...FaultBench.steps {
                #expect(
                    screen.emulator.everything.contains {
                        $0.hasPrefix("step \(step)/\(FaultBench.steps)  epoch ")
                    })
            }
        }
    }
}
