import Foundation

/// How much memory this process may use.
package enum SystemMemory {
    /// Bytes that can be allocated without swapping: MemAvailable, or less if a control group (of a
    /// container or a batch system, or one above it) or `ulimit -v` allows less. nil where the system does not say.
    package static var available: Int? {
        [memAvailable, ControlGroups().memoryLeft, addressesLeft].compactMap { $0 }.min()
    }

    /// What allows less than the system has, for people; nil: nothing does.
    package static var bound: String? {
        let groups = ControlGroups()
        let (group, addresses) = (groups.memoryLeft ?? .max, addressesLeft ?? .max)
        guard min(group, addresses) < memAvailable ?? .max else { return nil }
        return addresses < group
            ? "ulimit -v"
            : "the control group \(groups.memoryFolder ?? "") (of a container, a service or a job)"
    }

    /// What a run may plan with: 85 %, since estimates are not exact and the system needs some of
    /// its page cache.
    package static var usable: Int? { available.map { $0 / 100 * 85 } }

    /// 85 % of what this machine has, or of what a control group or `ulimit -v` allows, whatever else
    /// runs on it. nil where the system does not say.
    package static var whole: Int? {
        [memory("MemTotal:"), ControlGroups().memoryLimit, addressLimit].compactMap { $0 }.min()
            .map { $0 / 100 * 85 }
    }

    private static var memAvailable: Int? { memory("MemAvailable:") }

    private static func memory(_ name: String) -> Int? {
        for line in KernelFile.lines("/proc/meminfo") where line.hasPrefix(name) {
            let words = line.split(separator: " ")
            guard words.count == 3, let kibibytes = Int(words[1]) else { return nil }
            return kibibytes * 1024
        }
        return nil
    }

    /// Bytes of address space that this process may have (RLIMIT_AS); nil without a limit.
    private static var addressLimit: Int? {
        let name = "Max address space"
        let line = KernelFile.lines("/proc/self/limits").first { $0.hasPrefix(name) }
        return line?.dropFirst(name.count).split(separator: " ").first.flatMap { Int($0) }
    }

    private static var addressesLeft: Int? {
        addressLimit.flatMap { limit in addressesInUse.map { max(0, limit - $0) } }
    }

    private static var addressesInUse: Int? {
        let pages = KernelFile.lines("/proc/self/statm").first?.split(separator: " ").first
        return pages.flatMap { Int($0) }.map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
    }
}
