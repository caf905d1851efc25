import Commands
import Foundation

@main
enum Entrypoint {
    static func main() {
        exit(CommandLineTool.run())
    }
}
