import SkeinBasics

@testable import SkeinCoordination
@testable import SkeinNodes

// What must hold of a coordinator's shell, besides what it is directed to do.
extension CoordinatorBook {
    /// Somebody is always named who is there to be waited for, and nothing is kept for longer or in
    /// greater numbers than it may be.
    func inspect(_ shell: CoordinatorShell, workers: Int) {
        let waiting = shell.state.waiting(now: shell.now)
        let isNamed =
            switch waiting.culprit {
            case .nobody: shell.farewell != nil
            case .coordinator: true
            case .worker(let name):
                shell.peers.values.contains { $0.stage == .member && $0.name == name }
            case .absentees: shell.state.missing > 0
            }
        if !isNamed { world.violate("nobody is named: \(waiting.sentence)") }
        if waiting.seconds < 0 { world.violate("since the future: \(waiting.sentence)") }
        for peer in shell.parked.keys where shell.peers[peer]?.stage != .member {
            world.violate("results of \(peer), who is gone, are kept")
        }
        inspectBounds(of: shell, workers: workers)
    }
}
