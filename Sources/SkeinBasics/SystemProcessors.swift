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

    /// The first processor's entry of /proc/cpuinfo has about 2 KiB.
    private static let entryBytes = 1 << 14

    /// The first processor's part of /proc/cpuinfo; empty when it cannot be read.
    ///
    /// The system takes long to write all of it for hundreds of cores, so only the start is read.
    package static var description: String {
        let descriptor = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: entryBytes)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// What makes this kind of processor another one than others; empty if it does not say.
    package static var identity: [String] { identity(in: description) }

    /// The fields of the first processor that name its maker, model and revision, on x86-64 and Arm.
    static func identity(in description: String) -> [String] {
        let names: Set = [
            "vendor_id", "cpu family", "model", "model name", "stepping", "CPU implementer",
            "CPU architecture", "CPU variant", "CPU part", "CPU revision",
        ]
        let lines = description.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.prefix { !$0.isEmpty }.compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let words = parts.map {
                $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            return names.contains(words[0]) ? words.joined(separator: ": ") : nil
        }
    }
}
