import Foundation
import SkeinNetwork

/// What a service manager such as systemd tells a service in its environment; see sd_notify(3) and
/// sd_watchdog_enabled(3).
package struct ServiceEnvironment: Sendable, Equatable {
    /// Where it wants to hear how the service is: `NOTIFY_SOCKET`.
    package var socket: String
    /// How long it may hear nothing before it kills the service; nil: for ever.
    package var watchdog: Duration?

    package init(socket: String, watchdog: Duration? = nil) {
        self.socket = socket
        self.watchdog = watchdog
    }

    private static let socketName = "NOTIFY_SOCKET"
    private static let watchdogName = "WATCHDOG_USEC"
    private static let processName = "WATCHDOG_PID"

    /// - Parameters:
    ///   - variables: the environment.
    ///   - process: the identifier of this process, for which the watchdog may not be meant.
    /// - Returns: nil when no service manager asks for reports.
    static func read(_ variables: [String: String], process: Int32) -> ServiceEnvironment? {
        guard let socket = variables[socketName], !socket.isEmpty else { return nil }
        var watchdog: Duration?
        let isMeant = variables[processName].map { Int32($0) == process } ?? true
        if isMeant, let text = variables[watchdogName], let time = Int64(text), time > 0 {
            watchdog = .microseconds(time)
        }
        return ServiceEnvironment(socket: socket, watchdog: watchdog)
    }

    /// Reads the environment of this process, and removes this from it: a child that spoke to the
    /// manager would speak for this process. Call it before there are threads.
    package static func take() -> ServiceEnvironment? {
        let found = read(ProcessInfo.processInfo.environment, process: getpid())
        for name in [socketName, watchdogName, processName] { unsetenv(name) }
        return found
    }
}
