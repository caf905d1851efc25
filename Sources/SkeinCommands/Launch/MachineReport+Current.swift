import Foundation
import SkeinBasics
import SkeinLaunch
import SkeinModels
import SkeinTensors
import SkeinTraining

extension MachineReport {
    /// This machine, as this process may use it.
    static func current() -> MachineReport {
        var names = utsname()
        uname(&names)
        let cache = CacheDirectory.root
        return MachineReport(
            version: Version.text, system: text(names.sysname), architecture: text(names.machine),
            cores: SystemProcessors.usable,
            memoryBytes: SystemMemory.available,
            fingerprints: Dictionary(
                uniqueKeysWithValues: ComputeType.allCases.map {
                    ($0.rawValue, Engine.fingerprint($0))
                }), cache: cache, cacheFreeBytes: freeBytes(where: cache),
            // Why they are not kept is for the log of a run.
            computeRates: RegisterRateCache().rates().rates.named,
            hasAMXInt8: RegisterRates.hasAMXInt8)
    }

    /// A field of `utsname`: a C string in a tuple of characters.
    private static func text<Field>(_ field: Field) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// What a user without privileges may still write where `path` is, or will be made.
    private static func freeBytes(where path: String) -> Int? {
        var place = path
        var status = statvfs()
        while statvfs(place, &status) != 0 {
            guard errno == ENOENT, place != "/", place != "." else { return nil }
            place = FilePath.parent(of: place)
        }
        let (bytes, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return overflows ? nil : Int(exactly: bytes)
    }
}
