import Foundation
import SkeinBasics
import SkeinLaunch

/// The program `skein-lab`, which took over `skein bench`.
package enum LabProgram {
    /// Turns this process into the `skein-lab` beside it if the command is `bench`, which scripts of
    /// others still call. It returns otherwise, also without such a program: the command line says then
    /// where the benchmarks are.
    ///
    /// - Parameter words: The command and what follows it.
    package static func takeOver(_ words: [String] = Array(CommandLine.arguments.dropFirst())) {
        guard words.first == "bench" else { return }
        let path = FilePath.join(FilePath.parent(of: ProgramFile.path), "skein-lab")
        guard access(path, X_OK) == 0 else { return }
        var arguments = ([path] + words).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        _ = execv(path, arguments)
    }
}
