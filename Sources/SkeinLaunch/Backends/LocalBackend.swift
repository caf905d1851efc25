import Foundation

/// Workers on this machine, as children of launch.
package struct LocalBackend: LaunchBackend {
    /// Shared with the coordinator.
    let tokenFile: String

    package init(tokenFile: String) {
        self.tokenFile = tokenFile
    }

    package func program(_ words: [String]) -> ChildProgram {
        ChildProgram(words: words + ["--token-file", tokenFile])
    }

    /// On SIGTERM a worker hands in what it computes and says goodbye.
    package func stop(_ child: ChildProcess, isForced: Bool) {
        child.send(isForced ? SIGKILL : SIGTERM)
    }

    /// `count` workers that share the cores equally, unless `threads` is given.
    package func workers(
        _ count: Int, program: String, model: String, threads: Int?, cores: Int
    ) -> [LaunchPlan.Worker] {
        (1...count).map { number in
            LaunchPlan.Worker(
                name: "w\(number)", threads: threads ?? max(1, cores / count), model: model,
                program: program, backend: self)
        }
    }
}
