import Foundation
import SkeinBasics

/// A pipe whose writing end `skein launch` holds for as long as it lives.
///
/// A process that is killed with SIGKILL cannot tell its children anything; but the system closes its
/// pipes, also when an ssh connection lies between. Then the child ends at once: what is durable is
/// so already, and a coordinator that outlived its launch would keep its run directory locked.
enum ParentPipe {
    /// The variable that names the descriptor, for the processes that launch starts.
    static let variable = "SKEIN_PARENT_PIPE"

    /// Ends this process when its launch is gone; does nothing for one that a person started.
    static func watch() {
        guard let text = ProcessInfo.processInfo.environment[variable],
            let descriptor = Int32(text), descriptor >= 0
        else { return }
        watch(descriptor) { InterruptFlag.endAtOnce(.peerGone) }
    }

    /// Calls `ended` on a thread of its own once nobody can write into `descriptor` any more.
    static func watch(_ descriptor: Int32, ended: @escaping @Sendable () -> Void) {
        let thread = Thread {
            var byte: UInt8 = 0
            while true {
                let count = read(descriptor, &byte, 1)
                if count > 0 || (count < 0 && (errno == EINTR)) { continue }
                return ended()
            }
        }
        thread.name = "skein.parent"
        thread.start()
    }
}
