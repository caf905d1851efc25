import Foundation
import SkeinBasics
import SkeinJSON

/// What this process uses, as the system counts it.
package enum ProcessFigures {
    /// Processor seconds of all threads since the start, or nil where the system does not tell.
    package static var processorSeconds: Double? { seconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// Seconds since this process started, in steps of 10 ms, or nil where there is no /proc.
    package static var secondsSinceStart: Double? {
        #if os(Linux)
            guard let data = FileManager.default.contents(atPath: "/proc/self/stat"),
                let now = seconds(of: CLOCK_BOOTTIME)
            else { return nil }
            // proc(5): the name in parentheses may hold anything; field 3 follows it, and field 22
            // is the start in ticks since boot.
            let fields = String(decoding: data, as: UTF8.self).split(separator: ")").last?
                .split(separator: " ")
            guard let fields, fields.count > 19, let ticks = Double(fields[19]) else { return nil }
            return max(0, now - ticks / Double(sysconf(Int32(_SC_CLK_TCK))))
        #else
            return nil
        #endif
    }

    /// Processor seconds of the calling thread since its start.
    package static var threadProcessorSeconds: Double? { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

    /// Bytes of memory in use (resident), or nil where there is no /proc.
    package static var residentBytes: UInt64? {
        guard let data = FileManager.default.contents(atPath: "/proc/self/statm") else {
            return nil
        }
        let fields = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = UInt64(fields[1]) else { return nil }
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The most bytes of memory that this process ever had in use (resident).
    package static var peakResidentBytes: UInt64? {
        var usage = rusage()
        #if canImport(Glibc)
            let this = __rusage_who_t(RUSAGE_SELF.rawValue)
        #else
            let this = RUSAGE_SELF
        #endif
        guard getrusage(this, &usage) == 0 else { return nil }
        #if os(Linux)
            let unit: UInt64 = 1024
        #else
            let unit: UInt64 = 1
        #endif
        return UInt64(clamping: usage.ru_maxrss) * unit
    }

    #if canImport(Glibc)
        private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let openFiles = RLIMIT_NOFILE
    #endif

    private static var fileLimit: rlimit? {
        var limit = rlimit()
        return getrlimit(openFiles, &limit) == 0 ? limit : nil
    }

    /// Raises the soft limit on open files to `Limits.openFiles`, as far as the hard one allows.
    ///
    /// - Returns: the limit now in force, or nil where the system does not tell.
    @discardableResult
    package static func raiseFileLimit() -> UInt64? {
        guard var limit = fileLimit else { return nil }
        let wanted = min(limit.rlim_max, rlim_t(Limits.openFiles))
        guard limit.rlim_cur < wanted else { return UInt64(limit.rlim_cur) }
        let before = limit.rlim_cur
        limit.rlim_cur = wanted
        return UInt64(setrlimit(openFiles, &limit) == 0 ? wanted : before)
    }

    /// Connections for which this process has descriptors; `Limits.otherFiles` are kept for files,
    /// or half of all where there are few. Raising the limit is up to the program: `skein` does so
    /// before it starts a coordinator.
    package static func connectionRoom() -> Int {
        let limit = Int(clamping: fileLimit?.rlim_cur ?? rlim_t(Limits.openFiles))
        return limit - min(Limits.otherFiles, limit / 2)
    }

    private static func seconds(of clock: clockid_t) -> Double? {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// The log line that says how long a process took to get ready.
package enum ReadyLine {
    /// `ready after 0.52 s, 0.71 s of processor time`; as JSON with `event`, `seconds` (since the
    /// process started) and `processor_seconds` (of all its threads).
    package static func tell(_ log: Log) {
        guard let seconds = ProcessFigures.secondsSinceStart,
            let processor = ProcessFigures.processorSeconds
        else { return log.info("ready", [("event", .text("ready"))]) }
        log.info(
            String(format: "ready after %.2f s, %.2f s of processor time", seconds, processor),
            [
                ("event", .text("ready")), ("seconds", .decimal(seconds)),
                ("processor_seconds", .decimal(processor)),
            ])
    }
}
