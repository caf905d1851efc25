import SkeinBasics
import SkeinModels
import SkeinTensors

// What goes together with features that are kept or rounded.
extension TrainingConfiguration {
    /// - Throws: `TrainingError.badCombination`.
    func checkFeatures() throws(TrainingError) {
        let reuse = MachineOptions.table.reuseFeatures.description.name
        if self.reuseFeatures == true, self.neftuneAlpha != nil {
            throw .badCombination(flag: reuse, problem: .excludes(name(\.neftuneAlpha)))
        }
        if self.featureType == .bf16, self.loss == .dpo {
            // Its reference is the exact base model.
            throw .badCombination(
                flag: "\(name(\.featureType)) bf16", problem: .excludes("\(name(\.loss)) dpo"))
        }
        if self.reuseFeatures != true {
            let table = MachineOptions.table
            let given =
                self.featureDir != nil
                ? table.featureDir.description
                : self.featureDisk != nil ? table.featureDisk.description : nil
            if let given {
                throw .badCombination(flag: given.name, problem: .needs("\(reuse) on"))
            }
        }
    }

    /// Refuses to keep features where there are none, or where they would depend on other rows.
    ///
    /// - Parameters:
    ///   - shape: of the adapter.
    ///   - layerCount: of the model.
    /// - Throws: `TrainingError.badCombination`; `FeatureError.otherProducts`.
    func checkFeatures(_ shape: AdapterShape, layerCount: Int) throws {
        guard shape.frozenLayers == 0 || self.featureSettings != nil else { return }
        let reuse = MachineOptions.table.reuseFeatures.description.name
        if shape.frozenLayers == 0 {
            let flag: String? =
                if self.reuseFeatures == true {
                    reuse
                } else {
                    self.featureType == .bf16 ? "\(name(\.featureType)) bf16" : nil
                }
            guard let flag else { return }
            if shape.hasEmbedding {
                throw TrainingError.badCombination(
                    flag: flag,
                    problem: .excludes(
                        "\(name(\.targetModules)) \(TargetModule.embedding.name)"))
            }
            throw TrainingError.badCombination(
                flag: flag, problem: .needs("\(name(\.layers)) \(max(1, layerCount - 1)) or fewer"))
        }
        guard Engine.rowsAreIndependent(self.compute) else { throw FeatureError.otherProducts }
    }

    private func name<Value>(_ option: KeyPath<RecipeOptions, Option<Value>>) -> String {
        RecipeOptions.table[keyPath: option].description.name
    }
}
