import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinText

extension TrainingConfiguration {
    /// What a run adapts of a model, with the ranks and alphas that patterns give to modules.
    ///
    /// A pattern is a regular expression for a module's name in the base model, or for what follows
    /// one of its dots, as PEFT's `rank_pattern` and `alpha_pattern` (`get_pattern_key`). PEFT takes
    /// the first that fits; here two that say different things of one module are refused.
    ///
    /// - Throws: `TrainingError.layersOutOfRange`; `.badOption` for a pattern that fits no adapted
    ///   module or is no expression that Skein reads.
    package func lora(for model: ModelConfiguration) throws -> LoRAConfiguration {
        var lora = try lora(layerCount: model.layerCount)
        let ranks = try values(of: self.rankPattern ?? [:], \.rankPattern, lora, model)
        let alphas = try values(of: self.alphaPattern ?? [:], \.alphaPattern, lora, model)
        for place in Set(ranks.keys).union(alphas.keys) {
            let rank = ranks[place] ?? self.rank
            let strength = LoRAConfiguration.Strength(
                rank: rank,
                scale: Float((alphas[place] ?? self.alpha) / scaleDivisor(rank: rank)))
            guard strength != lora.strength(at: place) else { continue }
            lora.exceptions[place] = strength
        }
        return lora
    }

    /// The value of each adapted module that a pattern fits.
    private func values<Value: Equatable & Sendable>(
        of patterns: [String: Value],
        _ option: KeyPath<RecipeOptions, Option<[String: Value]?>>, _ lora: LoRAConfiguration,
        _ model: ModelConfiguration
    ) throws -> [LoRAConfiguration.Place: Value] {
        guard !patterns.isEmpty else { return [:] }
        let flag = RecipeOptions.table[keyPath: option].description.name
        let expressions = ModulePatterns()
        func matches(_ expression: String, _ text: String) throws(NamePatternFlaw) -> Bool {
            try expressions.matches(expression, text)
        }
        let rules = AdapterRules(targets: nil, excluded: nil, layers: nil, path: "--" + flag)
        var found: [LoRAConfiguration.Place: Value] = [:]
        var unused = Set(patterns.keys)
        do {
            for (place, name) in Self.names(of: lora, model) {
                for key in unused
                where try rules.value(of: [key: true], flag, for: name, matches) != nil {
                    unused.remove(key)
                }
                found[place] = try rules.value(of: patterns, flag, for: name, matches)
            }
        } catch FormatError.badField(_, _, let expected, let value) {
            throw TrainingError.badOption(flag: flag, value: value, allowed: expected)
        }
        if let key = unused.min() {
            throw TrainingError.badOption(
                flag: flag, value: key,
                allowed: "the end of the name of an adapted module, such as "
                    + (lora.targets.first?.name ?? "q_proj"))
        }
        return found
    }

    /// Every adapted module, by its whole name in the base model.
    private static func names(
        of lora: LoRAConfiguration, _ model: ModelConfiguration
    ) -> [(place: LoRAConfiguration.Place, name: String)] {
        var names: [(LoRAConfiguration.Place, String)] = []
        for layer in lora.layers {
            for module in lora.targets where !module.isEdge {
                guard let own = model.design.blocks[layer].name(of: module) else { continue }
                names.append(
                    (.init(layer: layer, module: module), model.design.tensor(own, in: layer)))
            }
        }
        for edge in lora.targets where edge.isEdge {
            names.append((.init(edge: edge), model.moduleName(ofEdge: edge)))
        }
        return names
    }
}
