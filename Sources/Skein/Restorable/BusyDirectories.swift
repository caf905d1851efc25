import Foundation
import SkeinBasics

/// The directories in which this process trains: one task each. Behind one that has been cancelled the
/// next one waits, as people expect who cancel a task and resume its session.
enum BusyDirectories {
    /// A place in the line of a directory; the first one has it.
    final class Place: Sendable {
        fileprivate let real: String
        /// Cancels what has this place; nil: nothing waits behind it.
        fileprivate let flag: CancelFlag?

        fileprivate init(_ real: String, _ flag: CancelFlag?) {
            self.real = real
            self.flag = flag
        }
    }

    /// The places in all directories, in the order in which they came. At most one of a directory is not cancelled,
    /// its last; the others leave as soon as their threads run, so there is no limit of its own.
    private static let places = Condition([Place]())

    /// Takes a directory that nothing has.
    ///
    /// - Throws: `SkeinError` if a task of this process runs there, cancelled or not. `RunDirectory`
    ///   finds others'.
    static func enter(_ path: String) throws -> Place {
        try take(
            path, nil, remedy: "cancel it if need be, and wait for its result"
        ) { _ in false }
    }

    /// Takes a directory, or the next place in the line behind tasks that have all been cancelled.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - flag: cancels what enters; `cancel` sets it.
    /// - Returns: the place, for `wait` and `leave`.
    /// - Throws: `SkeinError` if one of them has not been cancelled.
    static func lineUp(_ path: String, _ flag: CancelFlag) throws -> Place {
        try take(path, flag, remedy: "wait for its result or cancel it first") {
            $0.flag?.isSet == true
        }
    }

    private static func take(
        _ path: String, _ flag: CancelFlag?, remedy: String, behind isPassing: (Place) -> Bool
    ) throws -> Place {
        let place = Place(URL(fileURLWithPath: path).resolvingSymlinksInPath().path, flag)
        let isTaken = places.change(waking: false) { places in
            guard places.allSatisfy({ $0.real != place.real || isPassing($0) }) else {
                return false
            }
            places.append(place)
            return true
        }
        guard isTaken else {
            throw SkeinError(
                code: .usage, what: "a job already trains in this directory", place: path,
                remedy: remedy)
        }
        return place
    }

    /// Blocks until a place is the first of its directory.
    ///
    /// - Returns: whether another one was before it.
    /// - Throws: `CancellationError` as soon as its own flag is set.
    static func wait(for place: Place) throws -> Bool {
        var hasWaited = false
        let isFirst = places.wait { places -> Bool? in
            if places.first(where: { $0.real == place.real }) === place { return true }
            if place.flag?.isSet == true { return false }
            hasWaited = true
            return nil
        }
        guard isFirst else { throw CancellationError() }
        return hasWaited
    }

    static func leave(_ place: Place) { places.change { $0.removeAll { $0 === place } } }

    /// Sets the flag of a task, which may wait.
    static func cancel(_ flag: CancelFlag) { places.change { _ in flag.set() } }
}
