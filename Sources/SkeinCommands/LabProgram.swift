import Foundation
import SkeinBasics
import SkeinLaunch

/// The program `skein-lab`, which took over `skein bench`.
enum LabProgram {
    /// Turns this process into the `skein-lab` beside it if the command is `bench`, which scripts of
    /// others still call. It returns otherwise, also without such a program: the command line says then
    /// where the benchmarks are.
    ///
    /// - Parameter words: The command and what follows it.
    /// - Throws: `FileError.failed` if the system does not start that program.
    static func takeOver(_ words: [String]) throws(FileError) {
        guard words.first == "bench" || words.prefix(2) == ["help", "bench"] else { return }
        let beside = FilePath.join(FilePath.parent(of: ProgramFile.path), "skein-lab")
        guard let path = ProgramFile.program(at: beside), path != ProgramFile.path else { return }
        var arguments = ([path] + words).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        _ = execv(path, arguments)
        throw .failed(operation: "start", path: path, code: errno)
    }
}
