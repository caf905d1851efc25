import SkeinBasics

/// Target modules that a model's blocks do not have, or that are adapted twice.
package enum TargetError: Error, Equatable {
    /// - layer: the first without it.
    case missing(module: TargetModule, layer: Int, known: [TargetModule])
    /// A module and one that it holds.
    case overlap(module: TargetModule, part: TargetModule)
}

extension DecoderDesign {
    /// Checks that every block has every target but the embedding and the head, which every model has,
    /// and that no projection is adapted twice.
    ///
    /// - Throws: `TargetError` for the first target that is not so.
    package func check(
        _ targets: [TargetModule], layers: Range<Int>
    ) throws(TargetError) {
        for layer in layers.clamped(to: blocks.indices) {
            let known = blocks[layer].targets
            for target in targets where !target.isEdge && !known.contains(target) {
                throw .missing(module: target, layer: layer, known: known)
            }
        }
        for target in targets where target.parts.count > 1 {
            if let part = target.parts.first(where: targets.contains) {
                throw .overlap(module: target, part: part)
            }
        }
    }
}

extension BlockDesign {
    /// What an adapter can be added to: its projections, and the modules that hold several of them.
    package var targets: [TargetModule] {
        let modules = projections.map(\.module)
        return modules
            + TargetModule.fused.filter { fused in
                let parts = projections.filter { fused.parts.contains($0.module) }
                return parts.count == fused.parts.count
                    && parts.allSatisfy { $0.rows != nil && $0.tensor == parts[0].tensor }
            }
    }
}

extension BlockDesign {
    /// The target that an adapter's file calls `module`; nil: no module of the block has this name.
    package func target(module: String) -> TargetModule? {
        projections.first { $0.name.hasSuffix("." + module) }?.module
            ?? TargetModule.fused.first { fused in
                projections.contains {
                    fused.parts.contains($0.module) && $0.fused?.hasSuffix("." + module) == true
                }
            }
    }
}

extension TargetError: Explained {
    package var explanation: Explanation {
        switch self {
        case .missing(let module, let layer, let known):
            Explanation(
                what: "the model has no \(module.name) to adapt", place: "layer \(layer)",
                remedy: "give --target-modules any of "
                    + known.map(\.name).joined(separator: ", "), status: .usage)
        case .overlap(let module, let part):
            Explanation(
                what: "\(part.name) is a part of \(module.name), and both are to be adapted",
                remedy: "give --target-modules one of the two", status: .usage)
        }
    }
}
