/// Makes a scenario that fails smaller: fewer faults, workers and steps, as long as it still fails.
package struct Shrinking {
    /// How many runs it may take.
    private var budget: Int
    private let fails: (Scenario) throws -> Bool

    /// - Parameters:
    ///   - budget: runs that it may take.
    ///   - fails: whether a scenario fails.
    package init(budget: Int = 400, fails: @escaping (Scenario) throws -> Bool) {
        self.budget = budget
        self.fails = fails
    }

    /// - Returns: the smallest scenario that was found; the same one if none smaller fails.
    package mutating func smallest(of scenario: Scenario) throws -> Scenario {
        var best = scenario
        var before: Scenario?
        while before != best, budget > 0 {
            before = best
            try reduceFaults(&best)
            try reduceWorkers(&best)
            try reduceSteps(&best)
        }
        return best
    }

    private mutating func take(_ candidate: Scenario, _ best: inout Scenario) throws -> Bool {
        guard budget > 0, candidate != best else { return false }
        budget -= 1
        guard try fails(candidate) else { return false }
        best = candidate
        return true
    }

    /// Leaves out halves, quarters and so on (Zeller and Hildebrandt's ddmin, 2002, without its tests of
    /// subsets).
    private mutating func reduceFaults(_ best: inout Scenario) throws {
        var size = max(1, best.faults.count)
        while !best.faults.isEmpty, budget > 0 {
            var start = 0
            while start < best.faults.count {
                var candidate = best
                candidate.faults.removeSubrange(start..<min(start + size, best.faults.count))
                if try !take(candidate, &best) { start += size }
            }
            if size == 1 { return }
            size = max(1, size / 2)
        }
    }

    private mutating func reduceWorkers(_ best: inout Scenario) throws {
        for count in 1..<max(1, best.workers) {
            var candidate = best
            candidate.workers = count
            if try take(candidate, &best) { return }
        }
    }

    private mutating func reduceSteps(_ best: inout Scenario) throws {
        var count = 1
        while count < best.steps ?? 64 {
            var candidate = best
            candidate.steps = count
            if try take(candidate, &best) { return }
            count *= 2
        }
    }
}
