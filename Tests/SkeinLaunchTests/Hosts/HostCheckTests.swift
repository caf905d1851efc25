import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinLaunch

/// The whole check, with a script in place of ssh that runs what sshd would, with a home of its own
/// for each host. Cluster/hosts/test does it with a real sshd.
@Suite struct HostCheckTests {
    private struct Bench {
        let directory: String
        /// Names of hosts whose `skein` was asked for its version.
        var asked: [String] {
            HostCheckTests.text(directory + "/asked").split(separator: "\n").map(String.init)
        }

        // `cases`: lines of a shell's `case` on the host's name, before it is served.
        init(_ directory: String, _ cases: String = "") throws {
            self.directory = directory
            try ShellScript.write(
                """
                while [ "${1#-}" != "$1" ]; do case $1 in -o) shift 2 ;; *) shift ;; esac; done
                name=$1; shift; : >'\(directory)'/started.$name
                case $name in
                \(cases)
                esac
                export HOME='\(directory)'/$name; mkdir -p "$HOME"; cd "$HOME"
                exec sh -c "$*"
                """, at: directory + "/ssh")
            try ShellScript.write(
                """
                echo "${HOME##*/}" >>'\(directory)'/asked
                echo '\(HostProblemTests.json())'
                """, at: directory + "/skein")
        }

        /// A release whose one file is `skein`, with `more` bytes that do not compress.
        func release(more: Int = 0) throws -> Release {
            let script = """
                cd '\(directory)' && mkdir -p r/bin && cp skein r/bin/skein
                head -c \(more) /dev/urandom >r/more && tar -czf r.tar.gz r
                """
            try ShellScript.write(script, at: directory + "/pack")
            let pack = Process()
            pack.executableURL = URL(fileURLWithPath: directory + "/pack")
            try pack.run()
            pack.waitUntilExit()
            return try Release(path: directory + "/r.tar.gz")
        }

        func check(
            _ hosts: String, release: Release? = nil,
            patience: HostCheck.Patience = .init(silence: .seconds(200), answer: .seconds(250)),
            isInterrupted: () -> Bool = { false }
        ) throws -> [CheckedHost] {
            var here = HostProblemTests.here
            var names = utsname()
            uname(&names)
            here.architecture = withUnsafeBytes(of: names.machine) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            return try HostCheck(
                try HostFile(hosts, path: "f"), release: release,
                demand: CheckedHost.Demand(
                    here: here, compute: "fp32", admitsOtherEngines: false, modelBytes: nil),
                patience: patience, ssh: directory + "/ssh"
            ).run(isInterrupted: isInterrupted, say: { _, _ in })
        }

        /// What is in a host's directory of releases.
        func releases(of host: String) -> [String] {
            let place = directory + "/\(host)/\(HostScript.releases)"
            return (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        }
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    private static func with(_ cases: String = "", _ body: (Bench) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { try body(Bench($0, cases)) }
    }

    @Test("hosts are asked in parallel, and stand in the file's order")
    func parallel() throws {
        // Each waits for the other one to have been started.
        let cases = """
            h1) while [ ! -e "${0%/*}/started.h2" ]; do sleep 0.02; done ;;
            h2) while [ ! -e "${0%/*}/started.h1" ]; do sleep 0.02; done ;;
            """
        try Self.with(cases) { bench in
            let skein = bench.directory + "/skein"
            let found = try bench.check("h1 skein=\(skein)\nh2 skein=\(skein)\nh3 skein=/none")
            #expect(found.map(\.name) == ["h1", "h2", "h3"])
            #expect(
                found.map(\.problem) == [nil, nil, .noSkein(program: "/none")])
            #expect(found[0].program == skein)
            #expect(bench.asked.sorted() == ["h1", "h2"])
        }
    }

    @Test("no more than the limit are asked at once")
    func limit() throws {
        let cases = """
            *) mkdir "${0%/*}/only" || touch "${0%/*}/two"; sleep 0.05; rmdir "${0%/*}/only" ;;
            """
        try Self.with(cases) { bench in
            var patience = HostCheck.Patience()
            patience.parallel = 1
            let skein = bench.directory + "/skein"
            let found = try bench.check(
                (1...4).map { "h\($0) skein=\(skein)" }.joined(separator: "\n"), patience: patience)
            #expect(found.allSatisfy { $0.problem == nil })
            #expect(!FileManager.default.fileExists(atPath: bench.directory + "/two"))
        }
    }

    @Test("a host that hangs or floods is not waited for, and its ssh is gone")
    func hangsAndFloods() throws {
        let cases = """
            silent) echo $$ >"${0%/*}/pid"; exec sleep 1000 ;;
            flood) exec yes ;;
            chatty) while :; do echo x; sleep 0.05; done ;;
            """
        try Self.with(cases) { bench in
            let patience = HostCheck.Patience(silence: .seconds(1), answer: .seconds(2))
            let found = try bench.check("silent\nflood\nchatty", patience: patience)
            #expect(found[0].problem == .silent(.connecting, seconds: 1))
            #expect(found[1].problem == .floods)
            #expect(found[2].problem == .silent(.connecting, seconds: 2))
            let pid = Int32(Self.text(bench.directory + "/pid").dropLast()) ?? 0
            #expect(pid > 0 && kill(pid, 0) != 0)
        }
    }

    @Test("one Ctrl-C ends the check at once, and no ssh is left")
    func interrupt() throws {
        try Self.with("*) echo $$ >\"${0%/*}/pid.$name\"; exec sleep 1000 ;;") { bench in
            let files = ["h1", "h2"].map { bench.directory + "/pid." + $0 }
            #expect(throws: LaunchError.checkInterrupted) {
                try bench.check(
                    "h1\nh2", isInterrupted: { files.allSatisfy { Self.text($0).hasSuffix("\n") } })
            }
            for file in files {
                let pid = Int32(Self.text(file).dropLast()) ?? 0
                #expect(pid > 0 && kill(pid, 0) != 0)
            }
        }
    }

    @Test("a release is copied whole, used there, and not copied again")
    func copies() throws {
        try Self.with { bench in
            let release = try bench.release(more: 3_000_000)
            for _ in 0..<2 {
                let found = try bench.check("h1 skein=/none\nh2", release: release)
                #expect(found.map(\.problem) == [nil, nil])
                #expect(
                    found[0].program
                        == bench.directory
                        + "/h1/\(HostScript.releases)/\(release.digest)/bin/skein")
                #expect(bench.releases(of: "h1") == [release.digest])
                // A second copy would make the directory anew.
                try AtomicFile.write(
                    "", to: bench.directory + "/h1/\(HostScript.releases)/\(release.digest)/kept")
            }
            #expect(
                FileManager.default.fileExists(
                    atPath: bench.directory + "/h1/\(HostScript.releases)/\(release.digest)/kept"))
            #expect(bench.asked.sorted() == ["h1", "h1", "h2", "h2"])
        }
    }

    @Test("a copy that is torn, altered or has no room leaves nothing, and its host says why")
    func brokenCopies() throws {
        // The limit of a file's size is in blocks of 512 bytes.
        let cases = """
            torn) set -- "head -c 1000000 | { $*; }" ;;
            altered) set -- "{ head -c 1000 /dev/zero; tail -c +1001; } | { $*; }" ;;
            full) set -- "trap '' XFSZ; ulimit -f 1000; $*" ;;
            """
        try Self.with(cases) { bench in
            let release = try bench.release(more: 3_000_000)
            let found = try bench.check("torn\naltered\nfull", release: release)
            func step(_ index: Int) -> String {
                if case .copyFailed(let step, _) = found[index].problem { step } else { "none" }
            }
            #expect((0..<3).map(step) == ["short", "checksum", "write"])
            for host in ["torn", "altered", "full"] { #expect(bench.releases(of: host) == []) }
            #expect(bench.asked == [])
            // What it was that went wrong is gone: the same command again succeeds.
            let again = try Bench(bench.directory).check("torn", release: release)
            #expect(again.map(\.problem) == [nil])
        }
    }

    @Test("a release without bin/skein is refused by the host, and a file that is none before")
    func badReleases() throws {
        try Self.with { bench in
            _ = try bench.release()
            let script = "cd '\(bench.directory)' && mkdir x && echo 1 >x/y && tar -czf x.tar.gz x"
            try ShellScript.write(script, at: bench.directory + "/pack")
            let pack = Process()
            pack.executableURL = URL(fileURLWithPath: bench.directory + "/pack")
            try pack.run()
            pack.waitUntilExit()
            let found = try bench.check(
                "h1", release: Release(path: bench.directory + "/x.tar.gz"))
            #expect(found[0].problem == .copyFailed(step: "content", words: ""))
            let text = bench.directory + "/ssh"
            #expect(throws: LaunchError.badRelease(path: text)) { try Release(path: text) }
        }
    }

    @Test("without ssh the check ends with the reason")
    func noSSH() throws {
        try Self.with { bench in
            try FileManager.default.removeItem(atPath: bench.directory + "/ssh")
            #expect(
                throws: LaunchError.notStarted(program: bench.directory + "/ssh", code: ENOENT)
            ) { try bench.check("h1") }
        }
    }
}
