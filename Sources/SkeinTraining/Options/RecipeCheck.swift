import SkeinBasics
import SkeinJSON
import SkeinModels

extension TrainingConfiguration {
    /// Refuses options of a recipe that need or exclude each other; `LocalSettings` checks those of
    /// local steps. A coordinator and its workers check the same.
    ///
    /// - Parameter automatic: options whose values are not known yet; what depends on them is not checked.
    /// - Throws: `TrainingError.badCombination`.
    package func checkRecipe(
        besides automatic: Set<MeasuredOption> = []
    ) throws(TrainingError) {
        try checkEdges()
        try checkSchedule(knowsRate: !automatic.contains(.learningRate))
        try checkLoss()
        try checkFeatures()
    }

    /// Refuses options about validations in a run that has none.
    ///
    /// - Parameter hasFile: whether there is a file of validation rows.
    /// - Throws: `TrainingError.badCombination`.
    func checkValidation(hasFile: Bool) throws(TrainingError) {
        let atStart = MachineOptions.table.validateAtStart.description.name
        let improvement = MachineOptions.table.requireImprovement.description.name
        if self.requireImprovement == true, self.validateAtStart == false {
            throw .badCombination(flag: improvement, problem: .excludes("\(atStart) off"))
        }
        if hasFile, self.splitBy != nil {
            throw .badCombination(
                flag: name(\.splitBy), problem: .excludes("a file of validation rows"))
        }
        guard !hasFile, self.validationSplit == 0 else { return }
        for (isGiven, flag) in [
            (self.validateEvery != nil, name(\.validateEvery)),
            (self.bestMetric != nil, name(\.bestMetric)), (self.splitBy != nil, name(\.splitBy)),
            (self.validateAtStart == true, atStart),
            (self.requireImprovement == true, improvement),
        ] where isGiven {
            throw .badCombination(
                flag: flag,
                problem: .needs("\(name(\.validationSplit)) above 0, or a file of validation rows"))
        }
    }

    /// Magnitudes are those of rows in blocks.
    private func checkEdges() throws(TrainingError) {
        guard self.dora == true, let edge = self.targetModules.first(where: \.isEdge) else {
            return
        }
        throw .badCombination(
            flag: name(\.dora), problem: .excludes("\(name(\.targetModules)) \(edge.name)"))
    }

    private func checkSchedule(knowsRate: Bool) throws(TrainingError) {
        if self.warmupRatio != nil, self.warmupSteps > 0 {
            throw .badCombination(
                flag: name(\.warmupRatio), problem: .excludes(name(\.warmupSteps)))
        }
        try need(self.restarts != nil, \.restarts, .cosineWithRestarts)
        try need(self.power != nil, \.power, .polynomial)
        guard let floor = self.minLearningRate else { return }
        if self.schedule == .constant {
            throw .badCombination(
                flag: name(\.minLearningRate),
                problem: .excludes("\(name(\.schedule)) \(Schedule.Kind.constant.rawValue)"))
        }
        guard !knowsRate || floor < self.learningRate else {
            throw .badOption(
                flag: name(\.minLearningRate), value: JSONValue.decimal(floor).written,
                allowed:
                    "a number below --\(name(\.learningRate)), which is "
                    + JSONValue.decimal(self.learningRate).written)
        }
    }

    private func need<Value>(
        _ isGiven: Bool, _ option: KeyPath<RecipeOptions, Option<Value>>, _ kind: Schedule.Kind
    ) throws(TrainingError) {
        guard isGiven, self.schedule != kind else { return }
        throw .badCombination(
            flag: name(option), problem: .needs("\(name(\.schedule)) \(kind.rawValue)"))
    }

    private func name<Value>(_ option: KeyPath<RecipeOptions, Option<Value>>) -> String {
        RecipeOptions.table[keyPath: option].description.name
    }
}
