import Commands
import Foundation

@main
enum Entrypoint {
    static func main() {
        EngineCore.selectBeforeStart()
        exit(CommandLineTool.run())
    }
}
