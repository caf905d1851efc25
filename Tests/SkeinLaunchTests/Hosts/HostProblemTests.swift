import SkeinBasics
import SkeinJSON
import Testing

@testable import SkeinLaunch

/// What a host said, and what launch makes of it.
@Suite struct HostProblemTests {
    static let here = MachineReport(
        version: "0.1.0", system: "Linux", architecture: "x86_64", cores: 2,
        memoryBytes: 8_000_000_000, fingerprints: ["fp32": "engine a", "bf16": "engine b"],
        cache: "/c", cacheFreeBytes: 5_000_000_000,
        computeRates: ["fp32": 100, "bf16": 200], hasAMXInt8: false)

    static func json(_ change: (inout MachineReport) -> Void = { _ in }) -> String {
        var report = here
        change(&report)
        return JSONValue.fields(report.fields).written
    }

    private static let beginning = "skein-host system Linux x86_64\nskein-host time 1000\n"
    private static let path = "skein-host path /usr/bin/skein\n"

    static func good(_ report: String = json(), status: Int = 0) -> String {
        beginning + path + report + "\n\nskein-host status \(status)\n"
    }

    private struct Case: Sendable {
        var output = ""
        var errors = ""
        var ending = ChildProcess.Ending.exited(0)
        var compute = "fp32"
        var admits = false
        var problem: HostProblem?
    }

    private static let cases: [Case] = [
        Case(output: good()),
        // What a start file prints stays without effect.
        Case(output: "Welcome!\n{\"skein\": 1}\nskein 9.9\n" + good()),
        Case(
            errors: "ssh: connect to host h port 22: Connection refused\n", ending: .exited(255),
            problem: .unreachable(
                .network, words: "ssh: connect to host h port 22: Connection refused")),
        Case(
            errors: "No ED25519 host key is known.\r\nHost key verification failed.\r\n",
            ending: .exited(255),
            problem: .unreachable(.unknownKey, words: "Host key verification failed.")),
        Case(
            errors: "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification "
                + "failed.\n", ending: .exited(255),
            problem: .unreachable(.changedKey, words: "Host key verification failed.")),
        Case(
            errors: "me@h: Permission denied (publickey).\n", ending: .exited(255),
            problem: .unreachable(.login, words: "me@h: Permission denied (publickey).")),
        Case(
            errors: "ssh: Could not resolve hostname h: Name or service not known\n",
            ending: .exited(255),
            problem: .unreachable(
                .name, words: "ssh: Could not resolve hostname h: Name or service not known")),
        Case(
            errors: "\u{1b}[2Jboo\u{202e}\u{7}\n", ending: .exited(255),
            problem: .unreachable(.network, words: "?[2Jboo??")),
        Case(
            errors: "This account is currently not available.\n", ending: .exited(1),
            problem: .noShell(words: "This account is currently not available.")),
        Case(output: "hello\n", problem: .noShell(words: "")),
        Case(
            output: beginning + "skein-host absent\n", problem: .noSkein(program: "my skein")),
        Case(
            output: good("", status: 127), errors: "libopenblas.so.0: cannot open\n",
            problem: .doesNotRun(
                path: "/usr/bin/skein", status: 127, words: "libopenblas.so.0: cannot open")),
        Case(output: good("hello"), problem: .notSkein(path: "/usr/bin/skein")),
        Case(output: good("{\"skein\":\"0.1.0\"}"), problem: .notSkein(path: "/usr/bin/skein")),
        Case(output: good("skein 0.0.9"), problem: .otherVersion(found: "0.0.9", here: "0.1.0")),
        Case(
            output: good(json { $0.version = "0.2.0\u{7}" }),
            problem: .otherVersion(found: "0.2.0?", here: "0.1.0")),
        Case(
            output: "skein-host system Linux aarch64\nskein-host absent\n",
            problem: .otherSystem(found: "Linux aarch64", here: "Linux x86_64")),
        Case(
            output: good(json { $0.fingerprints["fp32"] = "engine c" }),
            problem: .otherEngine(found: "engine c", here: "engine a")),
        Case(output: good(json { $0.fingerprints["fp32"] = "engine c" }), compute: "bf16"),
        Case(output: good(json { $0.fingerprints["fp32"] = "engine c" }), admits: true),
        Case(
            output: beginning + "skein-host copying\nskein-host failed write\n",
            errors: "cat: write error: No space left on device\n",
            problem: .copyFailed(
                step: "write", words: "cat: write error: No space left on device")),
        // The connection broke.
        Case(
            output: beginning + "skein-host copying\n", errors: "client_loop: Broken pipe\n",
            ending: .exited(255),
            problem: .copyFailed(step: "connection", words: "client_loop: Broken pipe")),
        Case(
            output: beginning + path, errors: "Connection reset\n", ending: .exited(255),
            problem: .unreachable(.network, words: "Connection reset")),
    ]

    @Test("each answer of a host has its verdict", arguments: cases.indices)
    func verdicts(index: Int) {
        let one = Self.cases[index]
        var answer = HostAnswer()
        answer.read(Array(one.output.utf8))
        #expect(
            answer.problem(
                ending: one.ending, errors: one.errors, program: "my skein", here: Self.here,
                compute: one.compute, admitsOthers: one.admits) == one.problem)
    }

    @Test("an answer is the same however its bytes are split")
    func splits() {
        let bytes = Array(Self.good().utf8)
        var whole = HostAnswer()
        whole.read(bytes)
        #expect(whole.report == Self.here && whole.status == 0 && whole.unixTime == 1000)
        for cut in bytes.indices {
            var answer = HostAnswer()
            answer.read(Array(bytes[..<cut]))
            answer.read(Array(bytes[cut...]))
            #expect(answer == whole)
        }
    }

    @Test("an endless line is not kept, and the next one is read")
    func endless() {
        var answer = HostAnswer()
        for _ in 0..<100 { answer.read([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 12)) }
        answer.read(Array(("\n" + Self.good()).utf8))
        #expect(answer.report == Self.here)
    }

    @Test("numbers and texts of a report have limits; what is no report is refused")
    func reports() throws {
        let wild = try #require(
            MachineReport(
                line: Array(
                    Self.json {
                        $0.cores = .max
                        $0.memoryBytes = -5
                        $0.cache = "/\u{1b}[31m" + String(repeating: "x", count: 5000)
                        $0.cacheFreeBytes = nil
                    }.utf8)))
        #expect(wild.cores == 65_536 && wild.memoryBytes == 0 && wild.cacheFreeBytes == nil)
        #expect(wild.cache.count == 203 && wild.cache.hasPrefix("/?[31mx"))
        for text in [
            "{}", "[]", "{\"skein\":", "{\"skein\":\"1\",\"cores\":1e99}",
            String(repeating: "[", count: 8000), Self.json().replacing("\"cores\":2", with: ""),
        ] {
            #expect(MachineReport(line: Array(text.utf8)) == nil, "\(text.prefix(40))")
        }
    }

    @Test("rates have limits, and an older skein says none")
    func rates() throws {
        let rates = "\"compute_rates\":{\"bf16\":200,\"fp32\":100}"
        let amx = "\"amx_int8\":false"
        let json = Self.json()
        #expect(json.contains(rates) && json.hasSuffix(amx + "}"))
        func read(_ text: String) -> MachineReport? { MachineReport(line: Array(text.utf8)) }
        let wild = try #require(
            read(
                json.replacing(
                    rates, with: "\"compute_rates\":{\"bf16\":1e300,\"fp32\":-7,\"int8\":1.5}")))
        #expect(
            wild.computeRates == ["bf16": 10_000_000_000_000_000, "fp32": 0, "int8": 1])
        let old = try #require(read(json.replacing(",\(rates),\(amx)", with: "")))
        #expect(old.computeRates.isEmpty && old.hasAMXInt8 == nil)
        #expect(old.fields.last?.1 == .null)
        #expect(read(json.replacing(rates, with: "\"compute_rates\":[1]")) == nil)
    }

    private static let problems: [HostProblem] =
        cases.compactMap(\.problem) + [
            .doesNotRun(path: "/h/.skein/releases/1/bin/skein", status: 126, words: "w"),
            .otherVersion(found: "0.1.0", here: "0.1.0"), .silent(.connecting, seconds: 30),
            .silent(.answering, seconds: 30),
            .silent(.copying(1_000_000, of: 38_000_000), seconds: 30), .floods,
        ]
        + ["directory", "unpack", "short", "checksum", "content", "rename"].map {
            .copyFailed(step: $0, words: "w")
        }

    @Test("each problem says what is wrong and how to mend it, in one line each")
    func sentences() {
        for problem in Self.problems {
            let (what, remedy) = problem.sentences(host: "me@h")
            #expect(!what.isEmpty && !remedy.isEmpty && what.count < 300, "\(problem)")
            #expect(!what.contains("\n") && !remedy.contains("\n"))
            #expect(problem.label.count <= 13, "\(problem)")
        }
    }

    @Test("another version names --copy-binary, and so does a missing skein")
    func namesCopyBinary() {
        for problem in [
            HostProblem.otherVersion(found: "0.0.9", here: "0.1.0"), .noSkein(program: "skein"),
        ] {
            #expect(problem.sentences(host: "h").remedy.contains("--copy-binary"))
        }
    }
}
