import SkeinBasics

/// How many characters a machine's texts may have, without a state for each of them.
extension ScalarMachine {
    /// From how many to how many characters lead from a state to an accepting one; `Int32.max`: there
    /// is no most.
    typealias Lengths = ClosedRange<Int32>

    /// For each state the shortest and the longest way to an accepting state, in characters.
    ///
    /// The machine is trimmed and its language not empty.
    var lengths: [Lengths] {
        var before: [[Int]] = Array(repeating: [], count: states.count)
        for (state, steps) in states.enumerated() {
            for step in steps { before[step.to].append(state) }
        }
        var shortest = [Int32](repeating: .max, count: states.count)
        var level = accepting.indices.filter { accepting[$0] }
        for state in level { shortest[state] = 0 }
        var length: Int32 = 0
        while !level.isEmpty {
            length += 1
            var next: [Int] = []
            for state in level {
                for other in before[state] where shortest[other] == .max {
                    shortest[other] = length
                    next.append(other)
                }
            }
            level = next
        }
        // From the ends of the texts; what is left over leads into a circle.
        var longest = [Int32](repeating: 0, count: states.count)
        var open = states.map(\.count)
        var ready = open.indices.filter { open[$0] == 0 }
        while let state = ready.popLast() {
            for other in before[state] {
                longest[other] = max(longest[other], longest[state] + 1)
                open[other] -= 1
                if open[other] == 0 { ready.append(other) }
            }
        }
        return states.indices.map { shortest[$0]...(open[$0] > 0 ? .max : longest[$0]) }
    }

    /// Whether from each state every number of characters within its lengths is possible, each by
    /// characters of one byte in a JSON string (`escaping`) or in UTF-8. Then a number beside the state
    /// tells what `intersection` with `length` would have a state for.
    ///
    /// There is only one assignment of sets of numbers to states in which each is what the steps make
    /// of the others, as a number is possible by way of a step if the one below is possible behind it.
    /// So where the lengths are such an assignment, they are exact.
    func hasEveryLength(_ lengths: [Lengths], escaping: Bool) -> Bool {
        let short = escaping ? ScalarSubnetworks.plain : ScalarSubnetworks.ascii
        return states.indices.allSatisfy { state in
            guard states[state].allSatisfy({ !$0.set.intersection(short).isEmpty }) else {
                return false
            }
            // In ascending order none may leave a gap behind those before it.
            let ways = states[state].map { lengths[$0.to] }.sorted { $0.lowerBound < $1.lowerBound }
            var end: Int32 = accepting[state] ? 0 : lengths[state].lowerBound - 1
            for way in ways {
                if end == .max { break }
                guard way.lowerBound + 1 <= end + 1 else { return false }
                end = max(end, way.upperBound == .max ? .max : way.upperBound + 1)
            }
            return true
        }
    }
}
