import SkeinModels
import SkeinTensors

/// What the job after the next one reads: threads that wait in between fetch its beginning, where one
/// answer waits for little but memory.
extension GenerationPass {
    func announce(_ module: TargetModule, in layer: Int) {
        team.announce(matrix(module, layer).bytes)
    }

    /// Two matrices that are read piece by piece beside each other.
    func announce(_ first: TargetModule, _ second: TargetModule, in layer: Int) {
        team.announce(matrix(first, layer).bytes, matrix(second, layer).bytes)
    }

    /// What is read behind `layer`: the next one's queries, keys and values, or the head.
    func announceEnd(of layer: Int) {
        if layer + 1 < model.layerCount {
            announceBeginning(of: layer + 1)
        } else {
            team.announce(weights.head.bytes)
        }
    }

    /// A layer's queries, keys and values, which are packed side by side.
    func announceBeginning(of layer: Int) {
        let (first, last) = (matrix(.query, layer).bytes, matrix(.value, layer).bytes)
        guard let start = first.baseAddress, let end = last.baseAddress, start < end else {
            return team.announce(first)
        }
        team.announce(UnsafeRawBufferPointer(start: start, count: end - start + last.count))
    }

    private func matrix(_ module: TargetModule, _ layer: Int) -> InterleavedMatrix {
        let block = weights.blocks[layer]
        return block.projections[block.places[module.rawValue]]
    }
}
