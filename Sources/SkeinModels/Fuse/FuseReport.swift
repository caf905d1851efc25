import SkeinFormats

/// What was written, and how far it is from base and adapter.
package struct FuseReport: Sendable {
    /// A tensor that was encoded anew.
    package struct Entry: Sendable {
        package let name: String
        package let type: ElementType
        package let deviation: Deviation
    }

    /// Names of the files that were written.
    package internal(set) var files: [String] = []
    package internal(set) var tensorCount = 0
    package internal(set) var byteCount = 0
    package internal(set) var changedCount = 0
    /// Tensors with the bytes of the base.
    package internal(set) var copiedCount = 0
    package internal(set) var encoded: [Entry] = []
    /// Matrices in another type than the one that was asked for.
    package internal(set) var otherTypes: [Entry] = []

    /// The deviation of all tensors that were encoded anew.
    package var deviation: Deviation {
        encoded.reduce(into: Deviation()) { $0 += $1.deviation }
    }

    /// The one that lost most.
    package var worst: Entry? {
        encoded.max { $0.deviation.relative < $1.deviation.relative }
    }

    /// How many tensors have each type, the most frequent first.
    package internal(set) var types: [(type: ElementType, count: Int)] = []

    mutating func add(_ tensor: FusedTensor, _ deviation: Deviation?, asked: ElementType) {
        tensorCount += 1
        byteCount += tensor.byteCount
        if let index = types.firstIndex(where: { $0.type == tensor.type }) {
            types[index].count += 1
        } else {
            types.append((tensor.type, 1))
        }
        switch tensor.source {
        case .merged(let merged):
            if !merged.changes.isEmpty { changedCount += 1 }
            let entry = Entry(
                name: tensor.name, type: tensor.type, deviation: deviation ?? Deviation())
            encoded.append(entry)
            if tensor.type != asked, tensor.shape.count > 1 { otherTypes.append(entry) }
        case .copied: copiedCount += 1
        case .floats: break
        }
    }
}
