import SkeinBasics

/// A folder with data files, as mlx-lm, the Hub and people name them.
struct DataFolder {
    let path: String

    /// What a file is for. `names` are those that it may have, the first one mlx-lm's.
    enum Part: String {
        case train
        case validation
        case test

        var names: [String] {
            switch self {
            case .train: ["train"]
            case .validation: ["valid", "validation"]
            case .test: ["test"]
            }
        }
    }

    /// The files of a part: `train.jsonl` (mlx-lm's name, which wins), else the one that is
    /// called `train` and is of another kind, else the parts `train-00000-of-00002.parquet` and so on, in
    /// order, here or in `data/`, as the Hub has them.
    ///
    /// - Parameter part: which.
    /// - Returns: nil if there is none.
    /// - Throws: `TrainingError.severalDataFiles`, `.badShards`; `FileError`.
    func files(for part: Part) throws -> [WeightedFile]? {
        let names = try DiskStore().names(in: path)
        let present = Set(names)
        // A folder of mlx-lm's has these names alone: other files in it are something else.
        if present.contains("train.jsonl") {
            let name = part.names[0] + ".jsonl"
            return present.contains(name) ? [WeightedFile(path: FilePath.join(path, name))] : nil
        }
        let others = part.names.flatMap { name in
            ([".jsonl"] + DataFileKind.suffixes).map { name + $0 }.filter(present.contains)
        }
        guard others.count <= 1 else {
            throw TrainingError.severalDataFiles(directory: path, names: others)
        }
        if let only = others.first { return [WeightedFile(path: FilePath.join(path, only))] }
        if let shards = try Self.shards(of: part, in: path, names) { return shards }
        let inner = FilePath.join(path, "data")
        guard DataFiles.isDirectory(inner) else { return nil }
        return try Self.shards(of: part, in: inner, try DiskStore().names(in: inner))
    }

    /// - Throws: also `TrainingError.noTrainingFile`.
    func trainingFiles() throws -> [WeightedFile] {
        guard let files = try files(for: .train) else {
            throw TrainingError.noTrainingFile(directory: path)
        }
        return files
    }

    /// All parts of a file that is in several.
    private static func shards(
        of part: Part, in directory: String, _ names: [String]
    ) throws -> [WeightedFile]? {
        var found: [(name: String, index: Int, total: Int)] = []
        for name in names.sorted() {
            for prefix in part.names {
                guard let (index, total) = shardNumbers(name, prefix: prefix) else { continue }
                found.append((name, index, total))
            }
        }
        found.sort { ($0.index, $0.name) < ($1.index, $1.name) }
        guard let total = found.first?.total else { return nil }
        guard total <= [WeightedFile].mostFiles else {
            throw TrainingError.badDataList(
                option: "data",
                problem: .tooMany(found: total, limit: [WeightedFile].mostFiles))
        }
        // Of two versions beside each other, or of an unfinished download, nobody knows the rows.
        guard found.map(\.index) == Array(0..<total), found.allSatisfy({ $0.total == total }) else {
            throw TrainingError.badShards(directory: directory, names: found.map(\.name))
        }
        return found.map { WeightedFile(path: FilePath.join(directory, $0.name)) }
    }

    /// The numbers in `train-00000-of-00002.parquet`.
    private static func shardNumbers(
        _ name: String, prefix: String
    ) -> (index: Int, total: Int)? {
        guard name.hasPrefix(prefix + "-"), name.hasSuffix(".parquet") else { return nil }
        let middle = name.dropFirst(prefix.count + 1).dropLast(".parquet".count)
        let parts = middle.split(separator: "-", omittingEmptySubsequences: false)
        // A fingerprint may follow: train-00000-of-00001-0123456789abcdef.parquet.
        guard parts.count >= 3, parts[1] == "of", let index = Int(parts[0]),
            let total = Int(parts[2]),
            index >= 0, index < total
        else { return nil }
        return (index, total)
    }
}
