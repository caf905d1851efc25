import Testing

@testable import SkeinLaunch

@Suite struct HostListTests {
    @Test(
        "a list of Slurm's is expanded in its order",
        arguments: [
            ("n1", ["n1"]), ("n1,m2", ["n1", "m2"]),
            ("n[1-3,07],login", ["n1", "n2", "n3", "n07", "login"]),
            ("n[08-10]", ["n08", "n09", "n10"]),
            ("rack[1-2]n[3-4]x", ["rack1n3x", "rack2n3x", "rack1n4x", "rack2n4x"]),
            ("a-b.example_1", ["a-b.example_1"]),
        ])
    func expanded(text: String, hosts: [String]) throws {
        #expect(try HostList(text).hosts == hosts)
    }

    @Test(
        "anything else is refused with its reason",
        arguments: [
            ("", "a name is empty"), ("n1,,n2", "a name is empty"),
            ("n[1-3", "a bracket is not closed"), ("n1]", "a bracket is closed"),
            ("n[[1]]", "brackets in brackets"), ("n[3-1]", "ends before it begins"),
            ("n[a]", "neither a number nor a range"), ("n[1-]", "neither a number nor a range"),
            ("n[-1]", "neither a number nor a range"), ("n[]", "neither a number nor a range"),
            ("n[1-2-3]", "neither a number nor a range"),
            ("n[1234567890]", "neither a number nor a range"),
            ("n 1", "a character that no host has"), ("n1\u{1B}[2J", "brackets"),
            ("n[0-999999999]", "more than 65536 hosts"),
            ("n[0-999]x[0-999]", "more than 65536 hosts"),
            (String(repeating: "n", count: 70_000), "more than 65536 bytes"),
            (String(repeating: "n", count: 60_000) + "[1-65536]", "more than 253 bytes"),
            ("n[1-2]" + String(repeating: "n", count: 253), "more than 253 bytes"),
        ])
    func refused(text: String, reason: String) {
        do {
            let list = try HostList(text)
            Issue.record("\(list.hosts.count) hosts")
        } catch {
            let sentence = error.sentence(of: "SLURM_JOB_NODELIST")
            if reason == "brackets" { return }
            #expect(sentence.contains(reason), "\(sentence)")
            #expect(sentence.hasPrefix("SLURM_JOB_NODELIST is not a list of hosts: "))
        }
    }
}
