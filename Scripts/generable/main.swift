import Foundation
import SkeinSessions

// usage: MODEL SEED RUNS [TYPE]; the types are `generatedTypes`, TYPE is the number of the only one.

/// Checks one type; a function, since only a function gives a type of the list a name.
func checked<Value: Checked>(
    _: Value.Type, _ number: Int, _ runs: Range<Int>, _ models: [SystemLanguageModel],
    _ seed: UInt64
) async -> Counts {
    var check = TypeCheck<Value>(type: number, models: models, seed: seed)
    return await check.run(runs)
}

let arguments = CommandLine.arguments
let url = URL(filePath: arguments[1])
let seed = UInt64(arguments[2]) ?? 1
let runs = Int(arguments[3]) ?? 1
let only = arguments.count > 4 ? Int(arguments[4]) : nil
let models = Request.windows.map { window in
    var resources = SystemLanguageModel.Resources()
    resources.contextSize = window
    resources.prefixCacheBytes = 64 << 20
    return SystemLanguageModel(model: url, resources: resources)
}
let began = ContinuousClock.now
var counts = Counts()
await withTaskGroup(of: Counts.self) { group in
    for (number, type) in generatedTypes.enumerated() where only == nil || number == only {
        // As many at once as the model makes replies at once.
        if number >= 4, only == nil, let done = await group.next() { counts.add(done) }
        let (models, seed, runs) = (models, seed, runs)
        group.addTask { await checked(type, number, 0..<runs, models, seed) }
    }
    for await done in group { counts.add(done) }
}
let seconds = (ContinuousClock.now - began) / .seconds(1)
let few = only == nil ? 20 : .max
for flaw in counts.flaws.prefix(few) { print(flaw.prefix(few == 20 ? 1000 : .max)) }
if counts.flaws.count > few { print("... and \(counts.flaws.count - few) more") }
print("guide: uses in declarations, values compared")
for (guide, uses) in generatedGuides.sorted(by: { $0.key < $1.key }) {
    print("  \(guide): \(uses), \(counts.compared[guide] ?? 0)")
}
print(
    """
    seed \(seed): \(only == nil ? generatedTypes.count : 1) types x \(runs) runs: \(counts.replies) replies
      decoded: \(counts.decoded), \(counts.closedEarly) of them closed early, \(counts.tokens) tokens
      stated errors: \(counts.cut) cut at the limit, \(counts.tooShort) too short for any value, \
    \(counts.promptTooLong) with a prompt beyond the window
      streams: \(counts.streams)
      \(seconds.formatted(.number.precision(.fractionLength(0)))) s
      anything else: \(counts.flaws.count)
    """)
exit(counts.flaws.isEmpty ? 0 : 1)
