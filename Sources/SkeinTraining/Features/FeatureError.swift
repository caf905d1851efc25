import SkeinBasics

/// Why features cannot be kept.
package enum FeatureError: Error, Equatable {
    /// The rows' features take `needed` bytes, and only `free` are free at `directory`.
    case noSpace(directory: String, needed: Int, free: Int)
    /// They take more than `--feature-disk` allows.
    case beyondLimit(directory: String, needed: Int, limit: Int)
    /// Others could have written the file.
    case foreign(path: String)
    /// A library multiplies on this processor, whose bits depend on which rows are together.
    case otherProducts
}

extension FeatureError: Explained {
    package var explanation: Explanation {
        let reuse = "leave out --reuse-features"
        switch self {
        case .noSpace(let directory, let needed, let free):
            return Explanation(
                what: "the features take \(Self.mebibytes(needed)), and "
                    + "\(Self.mebibytes(free)) of the disk are free, of which "
                    + "\(Self.mebibytes(Limits.featureReserve)) are left to others",
                place: directory,
                remedy: "give --feature-dir on another disk, or \(reuse); a new run may take half "
                    + "with --feature-type bf16, which gives another adapter",
                status: .inputOutput)
        case .beyondLimit(let directory, let needed, let limit):
            return Explanation(
                what: "the features take \(Self.mebibytes(needed)), more than the "
                    + "\(Self.mebibytes(limit)) that they may",
                place: directory,
                remedy: "give --feature-disk \((needed + (1 << 20) - 1) >> 20), or \(reuse)",
                status: .badData)
        case .foreign(let path):
            return Explanation(
                what: "this file of features is another user's, or others may write it",
                place: path,
                remedy:
                    "remove it, or give a --feature-dir whose file system keeps owners and rights",
                status: .inputOutput)
        case .otherProducts:
            return Explanation(
                what: "this processor has no fused multiply-add, so what blocks make of a row "
                    + "depends on the rows beside it",
                remedy: "\(reuse), or use --compute bf16", status: .usage)
        }
    }

    private static func mebibytes(_ bytes: Int) -> String { "\(Figures.mebibytes(bytes)) MiB" }
}
