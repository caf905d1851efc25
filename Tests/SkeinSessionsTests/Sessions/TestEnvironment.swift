import Foundation

/// What scripts tell tests.
enum TestEnvironment {
    /// Schedules of `ScheduleTests`; nil: as many as take a moment.
    static var schedules: Int? {
        ProcessInfo.processInfo.environment["SKEIN_SCHEDULES"].flatMap { Int($0) }
    }
}
