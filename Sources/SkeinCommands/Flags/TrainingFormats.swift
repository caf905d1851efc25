import SkeinBasics
import SkeinModels
import SkeinTraining

// How the values of the training options are typed.

extension ValueFormat where Value == LayerSelection {
    static var layers: ValueFormat {
        ValueFormat(
            placeholder: "L", accepted: "all, N for the last N, or a range such as 8-15",
            read: { LayerSelection($0) }, json: { .string($0.text) })
    }
}

extension ValueFormat where Value == [TargetModule] {
    /// Names with commas between them, or `all-linear` for all of them, as PEFT has it.
    static var targetModules: ValueFormat {
        let names = TargetModule.allCases.map(\.name)
        return ValueFormat(
            placeholder: "LIST",
            accepted: "all-linear, or with commas between them any of \(Words.either(names))",
            choices: ["all-linear"] + names,
            read: { text in
                if text == "all-linear" { return TargetModule.allCases }
                var found: Set<TargetModule> = []
                for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let bare = name.filter { $0 != " " }
                    guard let module = TargetModule(name: bare) else { return nil }
                    found.insert(module)
                }
                return found.sorted()
            },
            json: { .array($0.map { .string($0.name) }) })
    }
}

extension ValueFormat where Value == UInt64 {
    /// A seed: what fits into 63 bits, so that JSON readers keep it.
    static var seed: ValueFormat {
        ValueFormat(
            placeholder: "N", accepted: "a whole number from 0 up",
            read: { Int($0).flatMap { UInt64(exactly: $0) } }, json: { .integer(Int($0)) })
    }
}

extension ValueFormat where Value == Duration {
    /// A whole number and a unit, such as `60s`.
    static var duration: ValueFormat {
        ValueFormat(
            placeholder: "TIME", accepted: "a time like 500ms, 60s, 5m or 1h",
            read: { DurationText.duration(of: $0) },
            json: { .string(DurationText.text(of: $0)) })
    }
}
