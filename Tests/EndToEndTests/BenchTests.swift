import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinLab

/// `skein-lab bench recovery` on a tiny model strikes, measures and compares. No test asks whether a
/// busy machine meets the bars.
@Suite("benchmarks of real processes", .ownThreads)
struct BenchTests {
    @Test("workers are killed and stopped, and every figure has a value for each blow")
    func recovery() throws {
        try Workbench.with { bench in
            let ending = try SkeinProcess.run(
                [
                    "bench", "recovery", "--model", bench.model, "--data", bench.data, "--kills",
                    "2", "--steps", "2000", "--json",
                ], by: TestPaths.lab)
            if ending.status != 0 {
                try #require(ending.error.contains("too slow"), "\(ending.error)")
            }
            let json = try JSONSerialization.jsonObject(with: Data(ending.output.utf8))
            let object = try #require(json as? [String: Any])
            #expect(object["kills"] as? Int == 2 && object["stops"] as? Int == 1)
            let figures = try #require(object["figures"] as? [[String: Any]])
            let counts = Dictionary(
                uniqueKeysWithValues: figures.map {
                    ($0["name"] as? String ?? "", $0["count"] as? Int ?? -1)
                })
            #expect(counts["kill_noticed"] == 2)
            #expect(counts["stop_noticed"] == 1)
            #expect(counts["first_accepted"] == 2)
            #expect(counts["idle"] == 3)
            // A worker may hold nothing when it is killed.
            #expect((0...2).contains(counts["leased_again"] ?? -1))
        }
    }

    @Test("bench wire measures real processes")
    func wire() throws {
        let ending = try SkeinProcess.run(
            ["bench", "wire", "--workers", "3", "--steps", "3", "--rank", "1", "--json"],
            by: TestPaths.lab)
        try #require(ending.status == 0, "\(ending.error)")
        let json = try JSONSerialization.jsonObject(with: Data(ending.output.utf8))
        let object = try #require(json as? [String: Any])
        #expect(object["workers"] as? Int == 3 && object["steps"] as? Int == 3)
        #expect(object["parameters"] as? Int == 115_200)
        for field in ["steps_per_second", "cpu_seconds", "ratio", "loopback_limit", "hash_limit"] {
            #expect((object[field] as? Double ?? 0) > 0, "\(field)")
        }
    }

    @Test("skein bench, which others' scripts call, is skein-lab bench")
    func oldName() throws {
        for words in [["bench", "--help"], ["bench", "recovery"]] {
            let (old, new) = (
                try SkeinProcess.run(words), try SkeinProcess.run(words, by: TestPaths.lab)
            )
            #expect(old.status == new.status && old.output == new.output)
            #expect(old.error == new.error && old.output + old.error != "")
        }
    }

    @Test("without a skein-lab that starts, skein bench says so")
    func noLab() throws {
        // A link beside it and no copy: a file that was just written cannot be started while another
        // test's child, which was forked meanwhile, holds it open.
        let binary = try TestPaths.binary
        let directory = binary + "-alone-" + UUID().uuidString
        let files = FileManager.default
        try files.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? files.removeItem(atPath: directory) }
        let (skein, lab) = (directory + "/skein", directory + "/skein-lab")
        try files.linkItem(atPath: binary, toPath: skein)
        func expectAdvice() throws {
            let ending = try SkeinProcess.run(["bench"], by: skein)
            #expect(ending.status == 64 && ending.error.contains("write skein-lab bench WHAT"))
        }
        try expectAdvice()
        try files.createSymbolicLink(atPath: lab, withDestinationPath: "skein")
        try expectAdvice()
        try files.removeItem(atPath: lab)
        try #require(
            files.createFile(
                atPath: lab, contents: Data("#!/nonexistent\n".utf8),
                attributes: [.posixPermissions: 0o755]))
        let ending = try SkeinProcess.run(["bench"], by: skein)
        #expect(ending.status == 74 && ending.error.hasPrefix("error: cannot start"))
    }

    @Test("chaos goes on while hashes are equal, and ends at the first other adapter")
    func chaos() throws {
        try Workbench.with { bench in
            var lines: [String] = []
            let chaos = ChaosBench(try bench.work(), rounds: 1, seed: 1) { lines.append($0.text) }
            chaos.begin(codec: "fp32", compute: "fp32")
            try chaos.alone("alone", 1)
            try chaos.quiet("cluster", 2)
            #expect(lines.count == 2)
            let hashes = lines.compactMap { (line: String) -> Substring? in
                line.split(separator: " ").dropFirst().first
            }
            #expect(Set(hashes).count == 1)
            chaos.options += ["--rank", "4"]
            #expect(throws: BenchError.self) { try chaos.alone("other", 1) }
            #expect(lines.count == 2)
        }
    }

    @Test("train and a cluster are compared on one run")
    func pace() throws {
        try Workbench.with { bench in
            var kinds: [PaceBench.Kind] = []
            let medians = try PaceBench(
                bench.work(), options: ["--iterations", "6", "--validation-split", "0"]
            ).run(1) { kind, _, _ in kinds.append(kind) }
            #expect(kinds == [.alone, .cluster])
            #expect(medians.alone > 0 && medians.cluster > 0)
        }
    }

    @Test("the demonstration kills a worker, which comes back, and ends with one hash")
    func demo() throws {
        try Workbench.with { bench in
            let ending = try SkeinProcess.run(
                [
                    "bench", "demo", "--model", bench.model, "--data", bench.data, "--output",
                    bench.path("demo"), "--steps", "2000", "--run-options",
                    "--validation-split 0", "--skein", TestPaths.binary,
                ], by: TestPaths.lab)
            #expect(ending.status == 0, "\(ending.error)")
            let lines = ending.output.split(separator: "\n")
            #expect(lines.contains { $0.contains("kill -9 of worker gander") })
            let joins = lines.filter { $0.hasPrefix("worker gander") && $0.contains(" joins ") }
            #expect(joins.count == 2)
            let digests = lines.filter { $0.hasPrefix("SHA-256") }.map { $0.suffix(64) }
            #expect(digests.count == 2 && digests[0] == digests[1])
        }
    }
}
