import Foundation
import SkeinLab
import SkeinTestSupport
import SkeinTraining

/// A task of `skein join` as a launcher would start it.
enum JoinTask {
    /// The words of a task, and the environment that a launcher would give it.
    static func start(
        _ bench: Workbench, _ output: String, environment: [String: String] = [:],
        _ options: [String], prefix: String = ""
    ) throws -> SkeinProcess {
        // The tests may run in a job themselves.
        let foreign = ProcessInfo.processInfo.environment.keys.filter { name in
            [
                "SLURM_", "PMI", "OMPI_", "RANK", "WORLD_SIZE", "JOB_COMPLETION", "TORCHELASTIC",
                "MASTER_", "SKEIN_COORDINATOR",
            ].contains { name.hasPrefix($0) }
        }
        let variables =
            foreign.map { "unset \($0); " }.joined()
            + environment.map { "export \($0.key)='\($0.value)'; " }.joined()
        return try SkeinProcess(
            [
                "join", "--model", bench.model, "--data", bench.data, "--output",
                bench.path(output), "--threads", "1",
            ] + TrainingConfiguration.fixedWords + options,
            shell: variables + (prefix.isEmpty ? "exec \"$@\"" : prefix))
    }
}
