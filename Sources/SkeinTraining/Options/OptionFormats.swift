import SkeinBasics
import SkeinModels

// The text of option values that are neither numbers nor single words.

extension ValueFormat where Value == LayerSelection {
    package static var layers: ValueFormat {
        ValueFormat(
            placeholder: "L", accepted: "all, N for the last N, or a range such as 8-15",
            read: { LayerSelection($0) }, json: { .string($0.text) })
    }
}

extension ValueFormat where Value == [TargetModule] {
    /// Names separated by commas, or `all-linear` for all projections, as in PEFT.
    package static var targetModules: ValueFormat {
        let names = (TargetModule.allCases + TargetModule.fused).map(\.name)
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
