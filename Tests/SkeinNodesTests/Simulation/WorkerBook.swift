import SkeinBasics
import SkeinCoordination

@testable import SkeinNodes

/// What a worker's state directs, held against what its shell can have.
struct WorkerBook {
    private var rows: Set<WorkKey> = []
    private var kept: Set<WorkKey> = []
    private var busy: [Int: WorkKey] = [:]
    private var given: [Int: WorkKey] = [:]

    mutating func take(
        _ event: WorkerState.Event, _ directives: [WorkerState.Directive], _ shell: WorkerShell,
        violate: (String) -> Void
    ) {
        switch event {
        case .leased(let key, _): rows.insert(key)
        case .computed(let thread, let key):
            if busy[thread] != key { violate("has computed \(key), which it did not begin") }
            busy[thread] = nil
            given[thread] = key
        case .abandoned(let thread, let key):
            if busy[thread] != key { violate("has abandoned \(key), which it did not begin") }
            busy[thread] = nil
        default: break
        }
        for directive in directives {
            switch directive {
            case .ready(let held):
                for key in held where !kept.contains(key) { violate("says it holds \(key)") }
                if shell.connection == nil { violate("is ready without a connection") }
            case .compute(let thread, let key, _):
                if !rows.contains(key) { violate("computes \(key) without rows") }
                if busy[thread] != nil { violate("thread \(thread) has work already") }
                busy[thread] = key
                given[thread] = nil
            case .abandon(let thread, let key):
                if busy[thread] != key { violate("abandons \(key), which it has not") }
            case .keep(let thread, let key):
                if given[thread] != key { violate("keeps a result that thread \(thread) has not") }
                kept.insert(key)
            case .send(let key):
                if !kept.contains(key) { violate("sends \(key), which it has not") }
                if shell.connection == nil { violate("sends without a connection") }
            case .forget(let key):
                rows.remove(key)
                kept.remove(key)
            case .announceDrain:
                if shell.connection == nil { violate("drains without a connection") }
            case .leaveRun: violate("leaves the only run that there is")
            case .connect, .disconnect, .log, .finish: break
            }
        }
        if kept.count > shell.state.keptResults { violate("keeps \(kept.count) results") }
    }
}
