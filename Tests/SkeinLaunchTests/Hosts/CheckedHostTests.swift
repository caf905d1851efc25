import SkeinBasics
import SkeinJSON
import Testing

@testable import SkeinLaunch

@Suite struct CheckedHostTests {
    private static func demand(modelBytes: Int? = 90_000_000) -> CheckedHost.Demand {
        CheckedHost.Demand(
            here: HostProblemTests.here, compute: "fp32", admitsOtherEngines: false,
            modelBytes: modelBytes)
    }

    private static func host(
        _ line: String, _ output: String = HostProblemTests.good(), errors: String = "",
        status: Int32 = 0, time: Int = 1000, demand: CheckedHost.Demand = demand()
    ) throws -> CheckedHost {
        var answer = HostAnswer()
        answer.read(Array(output.utf8))
        return CheckedHost(
            try #require(try HostFile(line, path: "f").hosts.first), answer,
            ending: .exited(status), errors: errors, demand: demand, time: time)
    }

    @Test("the table has a line for each host, and below it what is wrong")
    func table() throws {
        let hosts = [
            try Self.host("me@10.0.0.7 name=w1"),
            try Self.host(
                "rack2", "", errors: "ssh: connect to host rack2 port 22: No route to host\n",
                status: 255),
            try Self.host("old", HostProblemTests.good("skein 0.0.9")),
            try Self.host("w4 threads=8", time: 4601),
        ]
        let text = CheckedHost.text(hosts)
        #expect(
            text
                == """
                host   state          skein  system        engine  cores   memory  cache free
                w1     ok             0.1.0  Linux x86_64  same        2  8.00 GB     5.00 GB
                rack2  unreachable    -      -             -           -        -           -
                old    other version  0.0.9  -             -           -        -           -
                w4     ok, warned     0.1.0  Linux x86_64  same        2  8.00 GB     5.00 GB
                rack2: it cannot be reached: ssh: connect to host rack2 port 22: No route to host
                  fix: check that it is up and that `ssh rack2 true` works
                old: it has skein 0.0.9, and this machine has 0.1.0
                  fix: give --copy-binary a release of 0.1.0, or install 0.1.0 there
                warning: w4: threads=8, but it has 2 cores for skein
                warning: w4: its clock is 1 h behind: the run does not mind, but log times differ

                """.replacing("1 h", with: "60 min"))
        let error = LaunchError.hostsFailed(
            names: ["rack2", "old"], of: 4, path: "f", status: .peerGone)
        #expect(throws: error) { try CheckedHost.require(hosts, path: "f") }
        #expect(
            error.explanation.what
                == "2 of 4 hosts cannot take part (rack2, old); nothing was started")
    }

    @Test("a host that is away ends with 69, one that is not as it should be with 65")
    func statuses() throws {
        let here = try Self.host("a")
        let away = CheckedHost(
            try #require(try HostFile("b", path: "f").hosts.first), .silent(.connecting, seconds: 3)
        )
        let old = try Self.host("c", HostProblemTests.good("skein 0.0.9"))
        try CheckedHost.require([here], path: "f")
        for (hosts, status) in [
            ([here, old], ExitStatus.badData), ([away, old], .peerGone), ([away], .peerGone),
        ] {
            let error = try #require(throws: LaunchError.self) {
                try CheckedHost.require(hosts, path: "f")
            }
            #expect(error.explanation.status == status)
        }
    }

    private static let minor: [(line: String, free: Int?, time: Int, model: Int?, count: Int)] =
        [
            ("h", 89_999_999, 1000, 90_000_000, 1), ("h", 90_000_000, 1000, 90_000_000, 0),
            ("h", nil, 1000, 90_000_000, 0), ("h", 5, 1000, nil, 0),
            ("h model=/m", 5, 1000, 90_000_000, 0), ("h", 1 << 40, 940, 1, 0),
            ("h", 1 << 40, 1061, 1, 1), ("h threads=2", 1 << 40, 1060, 1, 0),
            ("h threads=3", 1 << 40, 1060, 1, 1),
        ]

    @Test("little disk, many threads and a wrong clock are warnings", arguments: minor.indices)
    func warnings(index: Int) throws {
        let one = Self.minor[index]
        let host = try Self.host(
            one.line, HostProblemTests.good(HostProblemTests.json { $0.cacheFreeBytes = one.free }),
            time: one.time, demand: Self.demand(modelBytes: one.model))
        #expect(host.problem == nil)
        #expect(host.warnings.count == one.count, "\(host.warnings)")
    }

    @Test("a clock at the end of time is a warning, not a crash", arguments: [Int.min, Int.max])
    func wildClock(time: Int) throws {
        let output = HostProblemTests.good().replacing("time 1000", with: "time \(time)")
        #expect(try Self.host("h", output).warnings.count == 1)
    }

    @Test("a fleet's speeds are those of its threads; without those of one host there are none")
    func speeds() throws {
        func speeds(_ hosts: [CheckedHost], _ threads: Int? = nil) -> [String]? {
            CheckedHost.speeds(hosts, threads: threads, modes: ["fp32", "bf16"])?.map {
                "\($0.name) \(Int($0.speeds["fp32"] ?? 0)) \(Int($0.speeds["bf16"] ?? 0))"
            }
        }
        let slow = HostProblemTests.good(
            HostProblemTests.json { $0.computeRates["bf16"] = 50 })
        let hosts = [
            try Self.host("a"), try Self.host("b threads=1"), try Self.host("c", slow),
        ]
        #expect(speeds(hosts) == ["a 200 400", "b 100 200", "c 200 100"])
        #expect(speeds(hosts, 3) == ["a 300 600", "b 100 200", "c 300 150"])
        for rates in [[:], ["fp32": 100], ["fp32": 100, "bf16": 0]] {
            let old = HostProblemTests.good(HostProblemTests.json { $0.computeRates = rates })
            #expect(speeds(hosts + [try Self.host("d", old)]) == nil)
        }
        #expect(speeds(hosts + [try Self.host("d", HostProblemTests.good("skein 0.0.9"))]) == nil)
    }

    @Test("modes that all hosts have as this machine does")
    func sharedModes() throws {
        let here = HostProblemTests.here
        let other = try Self.host(
            "h",
            HostProblemTests.good(
                HostProblemTests.json {
                    $0.fingerprints = ["fp32": "engine a", "bf16": "engine c", "int8": "engine d"]
                }))
        let host = try Self.host("g")
        #expect(CheckedHost.sharedModes([host], here: here) == ["bf16", "fp32"])
        #expect(CheckedHost.sharedModes([host, other], here: here) == ["fp32"])
    }

    @Test("the same facts as a line of JSON")
    func json() throws {
        let text = JSONValue.fields(
            try Self.host("me@h", HostProblemTests.good("skein 0.0.9")).fields
        ).written
        #expect(
            text.hasPrefix(
                "{\"level\":\"error\",\"message\":\"host h: other version\",\"event\":\"host\","
                    + "\"host\":\"h\",\"destination\":\"me@h\",\"ok\":false,"))
        #expect(text.hasSuffix("\"warnings\":[],\"machine\":null}"))
    }
}
