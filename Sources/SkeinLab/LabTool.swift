import SkeinCommands

/// The program `skein-lab`: what developers measure and break, and users need not have.
package enum LabTool {
    package static let tool = CommandLineTool(
        Program(
            "skein-lab", summary: "measures skein beside its limits, and kills its processes",
            purpose: "measure skein beside its limits, and kill its processes"),
        commands: [BenchCommand.self, SimulateCommand.self])

    /// Runs the process's command line and returns its exit status.
    package static func run() -> Int32 { tool.run() }
}
