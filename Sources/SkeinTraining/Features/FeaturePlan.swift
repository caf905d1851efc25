import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows

/// What the features of a run's rows will take, before any of it is computed.
package struct FeaturePlan: Sendable, Equatable {
    package let settings: FeatureSettings
    /// What runs must have in common to share them.
    let key: FeatureKey
    /// Distinct rows.
    package let rows: Int
    package let tokens: Int
    /// Bytes on disk.
    package let bytes: Int
    /// Blocks that are computed once for each row, of all.
    package let frozenLayers: Int
    package let layers: Int
    /// Each row's name and the bytes of its record.
    let records: [FeatureName: Int]

    init(
        settings: FeatureSettings, key: FeatureKey, records: [FeatureName: Int], tokens: Int,
        frozenLayers: Int, layers: Int
    ) {
        self.settings = settings
        self.key = key
        self.records = records
        self.tokens = tokens
        self.frozenLayers = frozenLayers
        self.layers = layers
        rows = records.count
        bytes = records.values.reduce(0, +)
    }

    /// Bytes of the rows that a store does not have.
    func bytes(missingIn store: FeatureStore) -> Int {
        records.reduce(0) { $0 + (store.has($1.key) ? 0 : $1.value) }
    }

    /// For people.
    package var sentence: String {
        "features: the lower \(frozenLayers) of \(layers) blocks are computed once for each of "
            + "\(Figures.count(rows, "row")) (\(Figures.count(tokens, "token"))); "
            + "\((bytes + (1 << 20) - 1) >> 20) MiB in \(settings.directory)"
    }
}

extension TrainingJob {
    /// What features of this run's rows will take.
    ///
    /// - Parameter settings: where they are kept.
    /// - Returns: the plan.
    package func featurePlan(_ settings: FeatureSettings) -> FeaturePlan {
        var records: [FeatureName: Int] = [:]
        var tokens = 0
        let key = FeatureKey(
            modelDigest: runFile.modelDigest, fingerprint: runFile.fingerprint,
            frozenLayers: shape.frozenLayers, width: model.configuration.width,
            isRounded: configuration.featureType == .bf16)
        for row in [training, validation, test].joined() {
            let inputs = row.ids.dropLast()
            let bytes = FeatureRecord.bytes(tokens: inputs.count, key)
            if records.updateValue(bytes, forKey: FeatureName(inputs)) == nil {
                tokens += inputs.count
            }
        }
        return FeaturePlan(
            settings: settings, key: key, records: records, tokens: tokens,
            frozenLayers: shape.frozenLayers, layers: model.configuration.layerCount)
    }
}

extension FeaturePlan {
    /// The rows of both, of the same key and settings.
    func adding(_ other: FeaturePlan) -> FeaturePlan {
        FeaturePlan(
            settings: settings, key: key, records: records.merging(other.records) { $1 },
            tokens: tokens + other.tokens, frozenLayers: frozenLayers, layers: layers)
    }

    /// - Throws: `FeatureError.beyondLimit`.
    func checkLimit() throws {
        guard bytes + FeatureStore.startBytes <= settings.limit else {
            throw FeatureError.beyondLimit(
                directory: settings.directory, needed: bytes + FeatureStore.startBytes,
                limit: settings.limit)
        }
    }

    /// Sees to it that what this run will append has room: begins the file anew if it is full of other
    /// data's rows, and removes the least recently used files of others. Before that it checks that the
    /// disk has room then.
    ///
    /// - Parameters:
    ///   - store: of this plan's key and settings.
    ///   - others: that this process has open; their files stay.
    /// - Throws: `FeatureError`, `FileError`.
    package func makeRoom(in store: FeatureStore, beside others: [FeatureStore] = []) throws {
        try checkLimit()
        let missing = bytes(missingIn: store)
        let fits = store.hasRoom(for: missing)
        let added = fits ? missing : bytes
        let size = (fits ? store.byteCount : FeatureStore.startBytes) + added
        let open = others.filter { FilePath.parent(of: $0.path) == settings.directory }
        let expected = open.reduce(size) { $0 + $1.byteCount }
        let kept = Set(open.map(\.path) + [store.path])
        let rest = try settings.folder.byteCount(without: kept)
        let freed =
            min(rest, max(0, rest + expected - settings.limit)) + (fits ? 0 : store.byteCount)
        if added > 0, let free = try DiskStore.freeBytes(at: settings.directory),
            free + freed < added + Limits.featureReserve
        {
            throw FeatureError.noSpace(
                directory: settings.directory, needed: added, free: free + freed)
        }
        if !fits { try store.beginAnew() }
        try settings.folder.prune(keeping: kept, expected: expected)
    }
}
