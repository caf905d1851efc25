import Foundation

/// How many processors this process may use.
package enum SystemProcessors {
    /// How many threads may be asked for.
    package static let threads = 1...1024

    /// Threads that compute where `--threads` says nothing: no result depends on it.
    ///
    /// It is read once, since a team of threads is made once.
    package static let usable = usable(
        allowed: allowed, quota: ControlGroups().processors)

    /// Those on which the system lets this process run: its affinity, which is never more than the
    /// cpusets of its control groups. `activeProcessorCount` counts all that are online.
    package static var allowed: Int {
        // The mask may name processors that could be added to the machine and are not there.
        let online = ProcessInfo.processInfo.activeProcessorCount
        return min(affinity(in: KernelFile.lines("/proc/self/status")) ?? online, online)
    }

    /// Processors in the mask of /proc/self/status, which is `Cpus_allowed:` and hexadecimal digits
    /// with commas between them; nil if there is none.
    static func affinity(in lines: [Substring]) -> Int? {
        let name = "Cpus_allowed:"
        guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
        var count = 0
        for character in line.dropFirst(name.count) where !", \t".contains(character) {
            guard let digit = character.hexDigitValue else { return nil }
            count += digit.nonzeroBitCount
        }
        return count > 0 ? count : nil
    }

    /// - Parameters:
    ///   - allowed: processors on which the process may run.
    ///   - quota: processors that its control groups pay for; nil: all.
    /// - Returns: the smaller one, and at least 1.
    package static func usable(allowed: Int, quota: Int?) -> Int {
        max(1, min(allowed, quota ?? allowed))
    }
}
