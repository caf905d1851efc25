import Foundation
import SkeinCommands

@main
enum Entrypoint {
    static func main() {
        let status = CommandLineTool.skein.run()
        fflush(nil)
        // Not exit(3): it waits for OpenBLAS's threads, and where the system refuses them memory one
        // of them tries again for ever. All that a command writes is written by now.
        _exit(status)
    }
}
