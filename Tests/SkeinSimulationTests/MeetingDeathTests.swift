import SkeinBasics
import SkeinLaunch
import Testing

@testable import SkeinSimulation

/// `join`'s folder on a simulated disk: a coordinator that dies at any call of the system, its readers, and
/// the next one.
@Suite("where the tasks of a job meet, a coordinator dies")
struct MeetingDeathTests {
    private func notice(
        _ state: Rendezvous.Notice.State, start: Int, _ address: String
    ) -> Rendezvous.Notice {
        Rendezvous.Notice(
            state: state, addresses: [address], localAddress: nil,
            task: TaskCard(rank: 0, host: "n1", process: start, job: "12", restarts: start))
    }

    /// What a coordinator says, from the first to the last.
    private func notices(start: Int) -> [Rendezvous.Notice] {
        [
            notice(.starting, start: start, "10.0.0.1:1"),
            notice(.listening, start: start, "10.0.0.1:40011"),
            notice(.complete, start: start, "10.0.0.1:40011"),
        ]
    }

    private func meeting(_ process: SimulatedProcess) -> Rendezvous {
        Rendezvous(directory: "/shared/join", calls: process)
    }

    /// - Returns: the place, which it has until it dies.
    private func serve(_ process: SimulatedProcess, start: Int) throws -> Any? {
        let meeting = meeting(process)
        let place = try meeting.takePlace()
        #expect(place != nil, "start \(start) finds the place taken")
        try meeting.leave(notice(.starting, start: start, "").task)
        for notice in notices(start: start) { try meeting.publish(notice) }
        return place
    }

    @Test(
        "readers see a whole notice, and the next coordinator takes the place",
        arguments: [false, true])
    func deaths(losesPower: Bool) throws {
        var seen: Set<String> = []
        for seed in 1...5 as ClosedRange<UInt64> {
            for count in 0... {
                let disk = SimulatedDisk(seed: seed)
                try disk.opened().store.makeDirectory("/shared")
                var hasDied = false
                let process = disk.opened(dyingAfter: (count, .any)) { hasDied = true }
                var place: Any?
                do {
                    place = try serve(process, start: 1)
                } catch is ProcessDied {}
                let reader = meeting(disk.opened())
                if !hasDied {
                    #expect(try reader.takePlace() == nil, "two have the place")
                    withExtendedLifetime(place) {}
                }
                process.end()
                if losesPower { disk.losePower() }
                switch try reader.read() {
                case .nothing:
                    #expect(hasDied, "seed \(seed): nothing of what was said is there")
                    seen.insert("nothing")
                case .damaged(let what): Issue.record("seed \(seed), call \(count): \(what)")
                case .notice(let notice):
                    // What was said before nothing died is durable.
                    #expect(hasDied || notice.state == .complete, "seed \(seed)")
                    seen.insert(notice.state.rawValue)
                    #expect(notices(start: 1).contains(notice), "seed \(seed), call \(count)")
                }
                _ = try serve(disk.opened(), start: 2)
                #expect(try reader.read() == .notice(notices(start: 2)[2]))
                #expect(reader.card(ofRank: 0)?.restarts == 2)
                let names = try disk.opened().store.names(in: "/shared/join")
                #expect(
                    Set(names) == [".lock", "address.json", "task-0.json"],
                    "seed \(seed), call \(count): \(names)")
                guard hasDied else { break }
            }
        }
        #expect(seen == ["nothing", "starting", "listening", "complete"])
    }
}
