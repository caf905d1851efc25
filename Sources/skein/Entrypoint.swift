import Commands
import Foundation

@main
enum Entrypoint {
    static func main() {
        EngineCore.selectBeforeStart(of: CommandLine.arguments.dropFirst().first)
        exit(CommandLineTool.run())
    }
}
