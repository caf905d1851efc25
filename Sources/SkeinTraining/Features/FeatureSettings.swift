import SkeinBasics
import SkeinModels

/// How numbers that leave the frozen blocks are taken on (`--feature-type`).
package enum FeatureType: String, Sendable, CaseIterable {
    /// As they are.
    case fp32
    /// Rounded.
    case bf16
}

/// Where features are kept, and how much of the disk they may take.
package struct FeatureSettings: Sendable, Equatable {
    package var directory: String
    /// Bytes of all files together.
    package var limit: Int

    /// 64 GiB: half a million rows of 60 tokens of a model as wide as SmolLM2.
    static let usualMebibytes = 1 << 16
    /// 1 PiB, so that bytes fit into 63 bits.
    static let mostMebibytes = 1 << 30

    /// - Parameters:
    ///   - directory: nil: the user's cache.
    ///   - mebibytes: nil: the usual number.
    package init(directory: String? = nil, mebibytes: Int? = nil) {
        self.directory = directory ?? FilePath.join(CacheDirectory.root, "features")
        limit = (mebibytes ?? Self.usualMebibytes) << 20
    }

    /// One file for each key; they grow in place.
    var folder: CacheFolder {
        CacheFolder(directory, suffix: FeatureStore.suffix, byteLimit: limit)
    }
}

extension TrainingConfiguration {
    /// Where features are kept; nil: nowhere.
    package var featureSettings: FeatureSettings? {
        self.reuseFeatures == true
            ? FeatureSettings(directory: self.featureDir, mebibytes: self.featureDisk) : nil
    }
}
