/// What the control groups of this process allow it. A container, a systemd unit and a batch system
/// each put a process into a group, and every group above that one limits it, too.
///
/// The groups are those of /proc/self/cgroup, each found below the mounts of its hierarchy
/// (/proc/self/mountinfo) and followed up to the mount's root, in version 2 and version 1 alike. A
/// container often sees only a part of the hierarchy: a path is then relative to the root of the
/// mount, and what lies above the mount cannot be read. A file that is missing, too long or
/// malformed limits nothing.
package struct ControlGroups: Sendable, Equatable {
    /// Bytes: the smallest limit of all groups; nil without one.
    package private(set) var memoryLimit: Int?
    /// Bytes: the least that any group has left, which is its limit without what its processes use
    /// and the system cannot take back; nil without a limit.
    package private(set) var memoryLeft: Int?
    /// The folder of that group, in which its limit can be seen.
    package private(set) var memoryFolder: String?
    /// Processors that the tightest quota pays for, rounded up and at least 1; nil without a quota.
    ///
    /// Java and Go 1.25 round up as well, Rust's `available_parallelism` rounds down. With a quota of
    /// 1.5 one thread would leave a third of it unused, and two threads that compute together
    /// are stopped together by the system when they have used it.
    package private(set) var processors: Int?

    /// Reads the groups as they are now.
    ///
    /// - Parameter root: the folder that has `proc` and what /proc/self/mountinfo names; empty for
    ///   the system's own.
    package init(root: String = "") {
        let paths = Self.paths(in: KernelFile.lines(root + "/proc/self/cgroup"))
        let mounts = Self.mounts(in: KernelFile.lines(root + "/proc/self/mountinfo"))
        for mount in mounts {
            for (controller, kind) in mount.controllers {
                guard let path = paths[controller.key(kind)],
                    let steps = mount.steps(to: path)
                else { continue }
                for level in 0...steps.count {
                    let group = Group(
                        folder: root + mount.point
                            + steps[..<level].map { "/" + $0 }.joined(),
                        kind: kind, isOwn: level == steps.count)
                    switch controller {
                    case .memory: take(memoryOf: group)
                    case .processors: take(quotaOf: group)
                    }
                }
            }
        }
    }

    private mutating func take(memoryOf group: Group) {
        guard let limit = group.memoryLimit else { return }
        memoryLimit = min(limit, memoryLimit ?? .max)
        // Where the use cannot be read, the limit alone counts.
        let left = max(0, limit - (group.memoryUsed ?? 0))
        guard left < memoryLeft ?? .max else { return }
        (memoryLeft, memoryFolder) = (left, group.folder)
    }

    private mutating func take(quotaOf group: Group) {
        guard let (quota, period) = group.quota else { return }
        let count = quota / period + (quota % period == 0 ? 0 : 1)
        processors = min(max(1, count), processors ?? .max)
    }
}

/// Which groups there are.
extension ControlGroups {
    /// Version 1 or 2 of control groups.
    private enum Kind: Sendable {
        case first
        case second
    }

    private enum Controller: String, CaseIterable {
        case memory
        case processors = "cpu"

        /// Belongs to the path of a group: in version 2 there is one for all controllers.
        func key(_ kind: Kind) -> String { kind == .second ? "" : rawValue }
    }

    /// A hierarchy, or a part of one, that is mounted.
    private struct Mount {
        /// The group that is the mount's root.
        var root: String
        /// The folder where it is mounted.
        var point: String
        var controllers: [(Controller, Kind)]

        /// The groups below the mount's root on the way to the one with this path; nil if it is not
        /// below it, and so not limited by it.
        func steps(to path: String) -> [Substring]? {
            let (own, outer) = (path.split(separator: "/"), root.split(separator: "/"))
            // In a namespace that begins below the mount's root, that is some group above.
            if !outer.isEmpty, outer.allSatisfy({ $0 == ".." }), !own.contains("..") { return [] }
            guard own.starts(with: outer), own.count <= Self.deepest, !own.contains("..") else {
                return nil
            }
            return Array(own.dropFirst(outer.count))
        }

        /// Deeper groups than any system makes.
        static let deepest = 64
    }

    /// Paths of this process's groups by controller; that of version 2 by an empty name.
    ///
    /// A line is `NUMBER:CONTROLLERS:PATH`; the path may have colons.
    private static func paths(in lines: [Substring]) -> [String: String] {
        var paths: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].hasPrefix("/") else { continue }
            let names = parts[1].split(separator: ",", omittingEmptySubsequences: false)
            guard parts[1].isEmpty == (parts[0] == "0") else { continue }
            for name in names { paths[String(name)] = String(parts[2]) }
        }
        return paths
    }

    /// The mounted hierarchies that limit memory or processors.
    ///
    /// A line is `ID PARENT DEVICE ROOT POINT OPTIONS [FIELDS] - KIND SOURCE OPTIONS`.
    private static func mounts(in lines: [Substring]) -> [Mount] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let dash = words.firstIndex(of: "-"), dash >= 6, words.count >= dash + 4 else {
                return nil
            }
            let controllers: [(Controller, Kind)]
            switch words[dash + 1] {
            case "cgroup2": controllers = Controller.allCases.map { ($0, .second) }
            case "cgroup":
                let names = words[dash + 3].split(separator: ",")
                controllers = Controller.allCases.filter { names.contains(Substring($0.rawValue)) }
                    .map { ($0, .first) }
            default: return nil
            }
            return Mount(
                root: unescaped(words[3]), point: unescaped(words[4]), controllers: controllers)
        }
    }

    /// The kernel writes blanks, line breaks and backslashes of a path as `\` and three octal digits.
    private static func unescaped(_ word: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What one group says.
extension ControlGroups {
    private struct Group {
        var folder: String
        var kind: Kind
        /// Whether the process is in this group itself, not only in one below it.
        var isOwn: Bool

        /// Bytes. A group above its `memory.high` is slowed down until it is below, so that is no
        /// memory to plan with.
        var memoryLimit: Int? {
            switch kind {
            case .second:
                return [number("memory.max"), number("memory.high")].compactMap { $0 }.min()
            case .first:
                // Without this, a group of version 1 does not count what the groups below it use.
                guard isOwn || word("memory.use_hierarchy") != "0",
                    let limit = number("memory.limit_in_bytes"), limit < Self.noLimit
                else { return nil }
                return limit
            }
        }

        /// Version 1 writes 2^63 less a page where there is no limit. No system has so much.
        private static let noLimit = 1 << 60

        /// Bytes in use, without the files that the system drops when memory is wanted.
        var memoryUsed: Int? {
            let prefix = kind == .first ? "total_" : ""
            var figures: [Substring: Int] = [:]
            for line in KernelFile.lines(folder + "/memory.stat") {
                let words = line.split(separator: " ")
                guard words.count == 2, let value = Int(words[1]), value >= 0 else { continue }
                figures[words[0]] = value
            }
            let name = kind == .first ? "memory.usage_in_bytes" : "memory.current"
            guard let all = number(name) else {
                return figures[prefix + (kind == .first ? "rss" : "anon")]
            }
            return ["active_file", "inactive_file", "slab_reclaimable"].reduce(all) {
                max(0, $0 - (figures[prefix + $1] ?? 0))
            }
        }

        /// Microseconds of processors' time in each period of so many microseconds.
        var quota: (quota: Int, period: Int)? {
            let numbers: [Int?]
            switch kind {
            case .second:
                numbers = KernelFile.text(folder + "/cpu.max").split(
                    whereSeparator: \.isWhitespace
                )
                .map { Int($0) }
            case .first: numbers = [number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")]
            }
            guard numbers.count == 2, let quota = numbers[0], let period = numbers[1],
                quota > 0, period > 0
            else { return nil }
            return (quota, period)
        }

        private func word(_ name: String) -> Substring? {
            KernelFile.text(folder + "/" + name).split(whereSeparator: \.isWhitespace).first
        }

        /// A file with one number from 0 up; nil for `max`, and for -1, which says the same.
        private func number(_ name: String) -> Int? {
            word(name).flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
        }
    }
}
