import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinText

// The text of option values that are neither numbers nor single words.

extension ValueFormat where Value == LayerSelection {
    package static var layers: ValueFormat {
        ValueFormat(
            placeholder: "L", accepted: "all, N for the last N, or a range such as 8-15",
            read: { LayerSelection($0) }, json: { .text($0.text) })
    }
}

extension ValueFormat where Value == String {
    /// `enable_thinking=false`, several with commas between them, or a JSON object.
    package static var templateArguments: ValueFormat {
        ValueFormat(
            placeholder: "NAME=VALUE",
            accepted:
                "NAME=VALUE with a JSON VALUE or a text (true, false and null, not True, False and "
                + "None), several with commas between them, or a text that holds a JSON "
                + "object; not \(Words.either(TemplateArgumentText.reserved)), which are set",
            read: { TemplateArgumentText.fields(of: $0) == nil ? nil : $0 },
            json: { .text($0) })
    }

    /// `prompt=question`, several with commas between them.
    package static var rowFields: ValueFormat {
        ValueFormat(
            placeholder: "PART=NAME",
            accepted: "PART=NAME, several with commas between them, each PART and NAME once; "
                + "PART is " + Words.either(RowFields.Part.allCases.map(\.rawValue)),
            read: { RowFields($0)?.text }, json: { .text($0) })
    }

    /// A day of the calendar.
    package static var day: ValueFormat {
        ValueFormat(
            placeholder: "YYYY-MM-DD", accepted: "a day such as 2024-07-26",
            read: { TemplateDate($0) == nil ? nil : $0 }, json: { .text($0) })
    }
}

extension ValueFormat where Value == [String] {
    /// A prompt, or several as a JSON list.
    package static var samplePrompts: ValueFormat {
        ValueFormat(
            placeholder: "TEXT",
            accepted:
                "a text of at most \(Limits.samplePromptBytes) bytes, or a JSON list of at most "
                + "\(Limits.samplePrompts) texts",
            read: { SamplePromptText.prompts(of: $0) },
            json: { .text(SamplePromptText.text(of: $0)) })
    }
}

extension ValueFormat where Value == [TargetModule] {
    /// Names separated by commas, or `all-linear` for all seven projections, as in PEFT. Modules that
    /// hold several projections are names, too, for models that have them, and so are the embedding and
    /// the head.
    package static var targetModules: ValueFormat {
        let names = (TargetModule.allCases + TargetModule.fused + TargetModule.edges).map(\.name)
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
            json: { .list($0.map { .text($0.name) }) })
    }
}
