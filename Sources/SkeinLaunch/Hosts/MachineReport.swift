import SkeinBasics
import SkeinJSON

/// What a machine has for a run: `skein --version --json` prints it, and launch compares that of each
/// host with its own.
package struct MachineReport: Sendable, Equatable {
    /// Skein's version.
    package var version: String
    /// `Linux`.
    package var system: String
    /// `x86_64`, as `uname -m` has it.
    package var architecture: String
    /// Processors that this process may use.
    package var cores: Int
    /// Bytes that a process may allocate now; nil where the system does not say.
    package var memoryBytes: Int?
    /// The engine's fingerprint for each `--compute`.
    package var fingerprints: [String: String]
    /// The cache's path.
    package var cache: String
    /// Bytes that are free where the cache is; nil where the system does not say.
    package var cacheFreeBytes: Int?
    /// Operations per second of a thread in registers for each `--compute`; empty where an older skein
    /// says none.
    package var computeRates: [String: Int]
    /// Whether the processor has AMX's units for int8; nil where an older skein does not say.
    package var hasAMXInt8: Bool?

    package init(
        version: String, system: String, architecture: String, cores: Int, memoryBytes: Int?,
        fingerprints: [String: String], cache: String, cacheFreeBytes: Int?,
        computeRates: [String: Int], hasAMXInt8: Bool?
    ) {
        self.version = version
        self.system = system
        self.architecture = architecture
        self.cores = cores
        self.memoryBytes = memoryBytes
        self.fingerprints = fingerprints
        self.cache = cache
        self.cacheFreeBytes = cacheFreeBytes
        self.computeRates = computeRates
        self.hasAMXInt8 = hasAMXInt8
    }

    package var fields: [(String, JSONValue)] {
        [
            ("skein", .text(version)), ("system", .text(system)),
            ("architecture", .text(architecture)), ("cores", .integer(cores)),
            ("memory_bytes", memoryBytes.map { .integer($0) } ?? .null),
            (
                "fingerprints",
                .fields(fingerprints.sorted { $0.key < $1.key }.map { ($0, .text($1)) })
            ),
            ("cache", .text(cache)),
            ("cache_free_bytes", cacheFreeBytes.map { .integer($0) } ?? .null),
            (
                "compute_rates",
                .fields(computeRates.sorted { $0.key < $1.key }.map { ($0, .integer($1)) })
            ),
            ("amx_int8", hasAMXInt8.map { .bool($0) } ?? .null),
        ]
    }
}

// What another machine says of itself is not trusted: its texts are shown to people, so they are cut
// and lose their control characters, and its numbers have limits.
extension MachineReport: Decodable {
    private enum CodingKeys: String, CodingKey {
        case version = "skein"
        case system, architecture, cores
        case memoryBytes = "memory_bytes"
        case fingerprints, cache
        case cacheFreeBytes = "cache_free_bytes"
        case computeRates = "compute_rates"
        case hasAMXInt8 = "amx_int8"
    }

    /// nil for anything but a report.
    ///
    /// - Parameter line: One line of JSON, already of bounded length.
    package init?(line: some Collection<UInt8>) {
        do {
            self = try JSONTree.decode(Self.self, from: line)
        } catch {
            // What a login prints besides; the caller says that no report came.
            return nil
        }
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String {
            PlainText.of(try fields.decode(String.self, forKey: key))
        }
        func bytes(_ key: CodingKeys) throws -> Int? {
            try fields.decodeIfPresent(Int.self, forKey: key).map { max(0, $0) }
        }
        version = try text(.version)
        system = try text(.system)
        architecture = try text(.architecture)
        cores = min(max(0, try fields.decode(Int.self, forKey: .cores)), Limits.cores)
        memoryBytes = try bytes(.memoryBytes)
        fingerprints = try fields.decode([String: String].self, forKey: .fingerprints)
            .mapValues { PlainText.of($0) }
        cache = try text(.cache)
        cacheFreeBytes = try bytes(.cacheFreeBytes)
        computeRates =
            try fields.decodeIfPresent([String: Double].self, forKey: .computeRates)?
            .mapValues { Int(min(max(0, $0), Limits.operationRate)) } ?? [:]
        hasAMXInt8 = try fields.decodeIfPresent(Bool.self, forKey: .hasAMXInt8)
    }
}
