import Foundation

/// How much memory this process may use.
public enum SystemMemory {
    /// Bytes that can be had without swapping: MemAvailable, and less when a control group (a
    /// container, a batch system) allows less. nil where the system does not tell.
    public static var available: Int? {
        let group = groupLimit.flatMap { limit in groupUsage.map { max(0, limit - $0) } }
        switch (memAvailable, group) {
        case (let system?, let group?): return min(system, group)
        case (let system?, nil): return system
        case (nil, let group): return group
        }
    }

    /// What a run may plan with: an estimate is no promise, and the system wants some of its page
    /// cache to live on.
    public static var usable: Int? { available.map { $0 / 100 * 85 } }

    private static var memAvailable: Int? {
        for line in lines("/proc/meminfo") where line.hasPrefix("MemAvailable:") {
            let words = line.split(separator: " ")
            guard words.count == 3, let kibibytes = Int(words[1]) else { return nil }
            return kibibytes * 1024
        }
        return nil
    }

    private static var groupLimit: Int? {
        lines("/sys/fs/cgroup/memory.max").first.flatMap { Int($0) }
    }

    /// What the group cannot give back: its usage without the page cache.
    private static var groupUsage: Int? {
        for line in lines("/sys/fs/cgroup/memory.stat") where line.hasPrefix("anon ") {
            return Int(line.dropFirst(5))
        }
        return nil
    }

    /// The lines of a file of the kernel; none where it does not exist.
    private static func lines(_ path: String) -> [Substring] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n")
    }
}
