import Foundation
import SkeinBasics

/// The log line that says how long a process took to get ready.
package enum ReadyLine {
    /// `ready after 0.52 s, 0.71 s of processor time`; as JSON with `event`, `seconds` (since the
    /// process started) and `processor_seconds` (of all its threads).
    package static func tell(_ log: Log) {
        guard let seconds = ProcessFigures.secondsSinceStart,
            let processor = ProcessFigures.processorSeconds
        else { return log.info("ready", [("event", .string("ready"))]) }
        log.info(
            String(format: "ready after %.2f s, %.2f s of processor time", seconds, processor),
            [
                ("event", .string("ready")), ("seconds", .number(seconds)),
                ("processor_seconds", .number(processor)),
            ])
    }
}
