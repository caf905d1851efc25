import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinLaunch

/// `skein launch` in a world: the real `Supervision`, whose children are the world's processes, and the
/// lines by which it knows of them. When it ends before the run is complete, a person launches again.
final class SimulatedLauncher {
    private unowned let run: SimulatedRun
    private var supervision: Supervision
    private var began = Duration.zero
    private var children: Set<Supervision.Member> = []
    /// Those that were ever started in this launch.
    private var started: Set<Supervision.Member> = []
    /// How often a person has launched.
    private var launches = 0
    private var isOver = true
    /// Whether a coordinator is to be started.
    private var isWanted = false
    private var isComplete = false

    private var world: World { run.world }

    init(_ run: SimulatedRun) {
        self.run = run
        supervision = Supervision(workerCount: run.workers.count, computesLocally: false)
    }

    // MARK: The coordinator

    /// Waits until the coordinator is to be started.
    func begin() throws {
        if launches == 0 {
            launch()
            if world.random.happens(0.25) {
                world.after(world.duration(1...20)) { [self] in
                    if run.loop?.isDead == false { isInterrupted() }
                }
            }
        }
        while !isWanted { try run.step() }
        isWanted = false
    }

    /// A line of the coordinator.
    func hear(_ line: String) {
        switch CoordinatorLine(line) {
        case .listening: handle(.listening)
        case .joined(let name):
            if let index = run.workers.firstIndex(where: { $0.name == name }) {
                handle(.joined(worker: index))
            }
        case .step: handle(.progressed)
        case .other: break
        }
    }

    /// The coordinator has ended well: its workers leave by themselves, or are made to.
    func runIsComplete() throws {
        isComplete = true
        if world.random.happens(0.2),
            let worker = run.workers.randomElement(using: &world.random), let loop = worker.loop
        {
            // SIGSTOP of a person who has gone: asking it does not help.
            loop.sleep(.seconds(60))
        }
        ended(.coordinator, .exited(0))
        let end = world.now + Supervision.farewell + Supervision.grace + .seconds(3)
        while !isOver {
            guard world.now < end else {
                return world.violate("a launch does not end: it has \(children.count) children")
            }
            try run.step()
        }
    }

    // MARK: A person

    private func launch() {
        guard !isComplete else { return }
        launches += 1
        supervision = Supervision(
            workerCount: run.workers.count, computesLocally: run.own != nil)
        (began, isOver, started) = (world.now, false, [])
        handle(.began)
        tick(launches)
    }

    /// Ctrl-C, perhaps twice; now and then another process asks the coordinator.
    func isInterrupted() {
        guard !isOver, world.random.happens(0.6) else {
            run.isAsked = true
            return
        }
        world.count("launch interrupted")
        handle(.interrupted)
        guard world.random.happens(0.3) else { return }
        let number = launches
        world.after(world.duration(0...2)) { [self] in
            if number == launches, !isOver { handle(.interrupted) }
        }
    }

    // MARK: What is supervised

    private func tick(_ number: Int) {
        world.after(.milliseconds(400)) { [self] in
            guard number == launches, !isOver else { return }
            handle(.tick)
            tick(number)
        }
    }

    func ended(_ member: Supervision.Member, _ ending: ChildProcess.Ending) {
        guard children.remove(member) != nil else { return }
        handle(.ended(member, ending))
    }

    private func handle(_ event: Supervision.Event) {
        guard !isOver else { return }
        for action in supervision.handle(event, now: world.now - began) { obey(action) }
    }

    private func obey(_ action: Supervision.Action) {
        switch action {
        case .start(let member, let again):
            if again == started.insert(member).inserted {
                world.violate("\(member) is started \(again ? "again" : "anew"), which is wrong")
            }
            if !children.insert(member).inserted { world.violate("starts \(member) twice") }
            start(member)
        case .terminate(.coordinator): run.isAsked = true
        case .terminate(.worker(let index)):
            run.workers[index].askToLeave()
        case .kill(.coordinator):
            if run.loop == nil {
                isWanted = false
                world.after(.zero) { [self] in ended(.coordinator, .killed(signal: SIGKILL)) }
            } else {
                run.die("the launcher kills the coordinator")
            }
        case .kill(.worker(let index)):
            // If it has just died, its end is told next.
            guard run.workers[index].whenEnded != nil else { return }
            world.count("launcher kills a worker")
            run.workers[index].die()
        case .say(let notice): tell(notice)
        case .finish(let verdict):
            world.note("the launcher ends: \(verdict)")
            world.count("launch ended")
            if !children.isEmpty { world.violate("leaves \(children.count) children behind") }
            isOver = true
            world.after(.seconds(1)) { [self] in launch() }
        }
    }

    private func tell(_ notice: Supervision.Notice) {
        world.note("launcher: \(notice)")
        switch notice {
        case .restarting(.worker, _, _, _, _): world.count("launcher restarts a worker")
        case .restarting: world.count("launcher restarts its coordinator")
        case .givingUp: world.count("launcher gives up on a process")
        case .noWorkersLeft, .stopping, .killing: break
        }
    }

    private func start(_ member: Supervision.Member) {
        guard case .worker(let index) = member else {
            isWanted = true
            return
        }
        let worker = run.workers[index]
        // One that was started by hand makes way.
        worker.end()
        worker.whenEnded = { [unowned self] ending in
            // Not within what it dies of.
            world.after(.zero) { self.ended(member, ending) }
        }
        run.launch(worker)
    }
}

extension WorkerState.Ending {
    /// What its process ends with.
    var status: Int32 {
        switch self {
        case .complete, .drained: ExitStatus.done.rawValue
        case .failed: ExitStatus.badData.rawValue
        case .rejected(let rejection): rejection.code.exitStatus.rawValue
        case .patience: ExitStatus.peerGone.rawValue
        }
    }
}
