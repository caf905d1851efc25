import Foundation
import SkeinBasics

/// A pipe whose writing end the parent of a process holds for as long as it lives.
///
/// A process that is killed with SIGKILL cannot tell its children anything; but the system closes its
/// pipes, also when an ssh connection lies between. Then the child ends at once: what is durable is
/// so already, and a coordinator that outlived its launch would keep its run directory locked.
package enum ParentPipe {
    /// The variable that names the descriptor, for what `ChildProcess` starts.
    static let variable = "SKEIN_PARENT_PIPE"

    /// Ends this process when its parent is gone; does nothing for one that a person started.
    package static func watch() {
        guard let text = ProcessInfo.processInfo.environment[variable],
            let descriptor = Int32(text), descriptor >= 0
        else { return }
        watch(descriptor) {
            Log.flush(within: .milliseconds(300))
            _exit(ExitStatus.peerGone.rawValue)
        }
    }

    /// Calls `ended` on a thread of its own once nobody can write into `descriptor` any more.
    static func watch(_ descriptor: Int32, ended: @escaping @Sendable () -> Void) {
        let isStarted = SystemThread.start("skein-parent") {
            var byte: UInt8 = 0
            while true {
                let count = read(descriptor, &byte, 1)
                if count > 0 || (count < 0 && (errno == EINTR)) { continue }
                return ended()
            }
        }
        if !isStarted {
            Log().warning("the system refused a thread: this process will outlive its parent")
        }
    }
}
