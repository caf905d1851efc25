import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinBasics

/// Trees of files as the kernel shows them, each in a folder of its own.
@Suite("limits of control groups")
struct ControlGroupsTests {
    private static let second = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw"
    private static let first = """
        31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 - tmpfs tmpfs rw,mode=755
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
        33 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
        34 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
        """
    private static let mebibyte = 1 << 20

    /// Limits where `groups` is /proc/self/cgroup, `mounts` is /proc/self/mountinfo, and `files` are
    /// texts by their path below /sys/fs/cgroup.
    private func read(
        _ groups: String, mounts: String = Self.second, _ files: [String: String]
    ) throws -> ControlGroups {
        try TestPaths.withTemporaryDirectory { root in
            var all = ["/proc/self/cgroup": groups, "/proc/self/mountinfo": mounts + "\n"]
            for (name, text) in files { all["/sys/fs/cgroup/" + name] = text }
            for (path, text) in all {
                try AtomicFile.makeDirectory(FilePath.parent(of: root + path))
                try AtomicFile.write(text + "\n", to: root + path)
            }
            return ControlGroups(root: root)
        }
    }

    @Test("version 2: the smallest memory.max and memory.high from the own group to the root")
    func memory() throws {
        let files = [
            "memory.max": "max", "job/memory.max": "419430400", "job/memory.current": "104857600",
            "job/memory.stat": "anon 41943040\nfile 62914560\nactive_file 31457280\n"
                + "inactive_file 20971520\nslab_reclaimable 10485760",
            "job/step/memory.max": "1073741824", "job/step/memory.current": "4096",
            "job/step/task/memory.max": "max",
        ]
        let groups = try read("0::/job/step/task", files)
        #expect(groups.memoryLimit == 400 * Self.mebibyte)
        // 60 MiB of the 100 are files and caches that can be dropped.
        #expect(groups.memoryLeft == 360 * Self.mebibyte)
        #expect(groups.processors == nil)
        // The group of another job limits nothing.
        #expect(try read("0::/other", files).memoryLimit == nil)
        let high = try read(
            "0::/a", ["a/memory.max": "max", "a/memory.high": "1000", "a/memory.current": "1500"])
        #expect(high.memoryLimit == 1000 && high.memoryLeft == 0)
        // The group with the smallest limit is not always that with the least left.
        let used = try read(
            "0::/a/b",
            [
                "a/memory.max": "3000", "a/memory.current": "2900",
                "a/b/memory.max": "1000", "a/b/memory.current": "100",
            ])
        #expect(used.memoryLimit == 1000 && used.memoryLeft == 100)
    }

    @Test("version 1: the smallest limit_in_bytes, and quotas, by the controller's own path")
    func firstVersion() throws {
        let files = [
            "memory/memory.limit_in_bytes": "9223372036854771712",
            "memory/slurm/memory.limit_in_bytes": "419430400",
            "memory/slurm/memory.usage_in_bytes": "52428800",
            "memory/slurm/memory.stat":
                "cache 1\nactive_file 7\ntotal_active_file 10485760\ntotal_inactive_file 0",
            "memory/slurm/memory.use_hierarchy": "1",
            "memory/slurm/job/memory.limit_in_bytes": "9223372036854771712",
            "cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "100000",
            "cpu,cpuacct/pod/cpu.cfs_quota_us": "150000",
            "cpu,cpuacct/pod/cpu.cfs_period_us": "100000",
        ]
        let own = "4:memory:/slurm/job\n2:cpu,cpuacct:/pod/a:b\n1:name=systemd:/x\n0::/y"
        let groups = try read(own, mounts: Self.first, files)
        #expect(groups.memoryLimit == 400 * Self.mebibyte)
        #expect(groups.memoryLeft == 360 * Self.mebibyte)
        #expect(groups.processors == 2)
        let apart = files.merging(["memory/slurm/memory.use_hierarchy": "0"]) { $1 }
        #expect(try read(own, mounts: Self.first, apart).memoryLimit == nil)
    }

    @Test(
        "the tightest quota of all levels, rounded up, and at least one processor",
        arguments: [
            (["cpu.max": "max 100000"], nil), (["a/cpu.max": "50000 100000"], 1),
            (["a/cpu.max": "200000 100000"], 2), (["a/cpu.max": "200001 100000"], 3),
            (["cpu.max": "300000 100000", "a/cpu.max": "800000 100000"], 3),
            (["cpu.max": "800000 100000", "a/b/cpu.max": "1000 100000"], 1),
            (["a/cpu.max": "9223372036854775807 1"], .max),
        ] as [([String: String], Int?)])
    func quota(_ files: [String: String], _ expected: Int?) throws {
        #expect(try read("0::/a/b", files).processors == expected)
    }

    @Test("in a container, paths are relative to the root of the mount")
    func namespaces() throws {
        let limited = ["memory.max": "1000", "inner/memory.max": "500"]
        func mount(_ root: String) -> String {
            "31 23 0:28 \(root) /sys/fs/cgroup ro - cgroup2 cgroup ro"
        }
        for (path, root, limit) in [
            // With a namespace of its own, without one, and a group below that the container made.
            ("/", "/", 1000), ("/docker/4f", "/docker/4f", 1000),
            ("/docker/4f/inner", "/docker/4f", 500), ("/inner", "/", 500),
            // Mounted before the namespace was made: a group above.
            ("/", "/../..", 1000),
            // A group whose name begins alike, one beside, and one outside of the namespace.
            ("/docker/4f2", "/docker/4f", nil), ("/", "/docker/4f", nil), ("/../x", "/", nil),
        ] as [(String, String, Int?)] {
            let groups = try read("0::" + path, mounts: mount(root), limited)
            #expect(groups.memoryLimit == limit, "\(path) below \(root)")
        }
        let blank = try read(
            "0::/a", mounts: "31 23 0:28 / /sys/fs/cgroup/with\\040blank rw - cgroup2 none rw",
            ["with blank/a/memory.max": "700"])
        #expect(blank.memoryLimit == 700)
    }

    @Test("what is missing, malformed or endless limits nothing")
    func malformed() throws {
        #expect(try read("", mounts: "", [:]) == read("0::/a", [:]))
        for text in ["", "-1", "nan", "1e9", "99999999999999999999", "\u{0}", "-5 100000", "5"] {
            let groups = try read(
                "0::/a",
                ["a/memory.max": text, "a/cpu.max": text, "a/memory.high": text])
            #expect(groups.processors == nil, "\(text)")
            #expect(groups.memoryLimit == (text == "5" ? 5 : nil), "\(text)")
        }
        for text in ["100000 0", "0 100000", "a b", "1 2 3", "100000"] {
            #expect(try read("0::/a", ["a/cpu.max": text]).processors == nil, "\(text)")
        }
        let usage = try read(
            "0::/a",
            [
                "a/memory.max": "1000", "a/memory.current": "900",
                "a/memory.stat": "active_file 5000\ninactive_file -3\nanon\nslab_reclaimable x y",
            ])
        #expect(usage.memoryLeft == 1000)
        for groups in [
            "::", "0:", "a", "0::relative", "4:memory", "0::/" + String(repeating: "a/", count: 99),
        ] {
            #expect(try read(groups, ["memory.max": "7"]).memoryLimit == nil, "\(groups)")
        }
        for mounts in ["31 23 0:28 / /sys/fs/cgroup rw cgroup2 cgroup2 rw", "- cgroup2 a b", "-"] {
            #expect(try read("0::/", mounts: mounts, ["memory.max": "7"]).memoryLimit == nil)
        }
        let long = String(repeating: "\n", count: 5 << 20)
        #expect(
            try read("0::/", mounts: Self.second + long, ["memory.max": "7"]).memoryLimit == nil)
    }

    @Test("processors are counted in the mask of the affinity, not among those that are online")
    func affinity() {
        for (mask, count) in [
            ("3", 2), ("ffffffff,00000001", 33), ("00000000,00008000", 1), ("0", nil), ("", nil),
            ("3x", nil),
        ] as [(String, Int?)] {
            let lines: [Substring] = ["Name:\tskein", "Cpus_allowed:\t\(mask)", "Threads:\t1"]
            #expect(SystemProcessors.affinity(in: lines) == count, "\(mask)")
        }
        #expect(SystemProcessors.affinity(in: ["Cpus_allowed_list:\t0-1"]) == nil)
    }

    @Test("a processor is identified by the first entry's fields that do not change with time")
    func identity() {
        let entry =
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n"
            + "model name\t: INTEL(R)  XEON(R)\nstepping\t: 2\ncpu MHz\t\t: 2100.000\n"
        let fields = [
            "vendor_id: GenuineIntel", "cpu family: 6", "model: 207",
            "model name: INTEL(R) XEON(R)", "stepping: 2",
        ]
        #expect(SystemProcessors.identity(in: entry) == fields)
        #expect(SystemProcessors.identity(in: entry + "\nmodel\t: 1\n") == fields)
        #expect(
            SystemProcessors.identity(in: "CPU part\t: 0xd0c\nFeatures\t: fp\n")
                == ["CPU part: 0xd0c"])
        #expect(SystemProcessors.identity(in: "").isEmpty)
    }

    @Test("threads are the processors of the affinity, or fewer by a quota, and at least one")
    func threads() {
        for (allowed, quota, count) in [(8, nil, 8), (8, 3, 3), (2, 5, 2), (0, nil, 1)]
            as [(Int, Int?, Int)]
        {
            #expect(SystemProcessors.usable(allowed: allowed, quota: quota) == count)
        }
        #expect((1...SystemProcessors.allowed).contains(SystemProcessors.usable))
    }
}
