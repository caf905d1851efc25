import SkeinJSON
import SkeinSimulation

// The only program of Scripts/check-planted: FIRST LAST RECIPE THREADS runs seeds until one fails, and prints
// that one as a line of JSON. It needs a quarter of the rooms of skein-lab, and builds in a third of the time.

let words = CommandLine.arguments.dropFirst().map { String($0) }
guard words.count == 4, let first = UInt64(words[0]), let last = UInt64(words[1]), first <= last,
    let recipe = Scenario.Recipe(rawValue: words[2]), let threads = Int(words[3])
else { fatalError("FIRST LAST RECIPE THREADS") }

let range = SeedRange(first...last, mostFound: 1) { Scenario.drawn($0, recipe) }
for outcome in try range.run(threads: threads).found {
    let line = JSONValue.fields([
        ("seed", .integer(Int(outcome.scenario.seed))),
        ("violations", .list(outcome.violations.map { .text($0) })),
    ])
    print(line.written)
}
