import SkeinBasics

/// A folder with data files, as mlx-lm, the Hub, `datasets` and people name them.
struct DataFolder {
    let path: String
    /// Where its files are: the folder itself, or one in it.
    private let base: String

    /// What a file is for. `names` are those that it may have, the first one mlx-lm's.
    enum Part: String {
        case train
        case validation
        case test

        var names: [String] {
            switch self {
            case .train: ["train"]
            case .validation: ["valid", "validation", "val", "dev"]
            case .test: ["test"]
            }
        }
    }

    /// Looks for training files in the folder, else in `data/`, else in the only other folder that has
    /// some: the Hub's are called as the data set's configuration is (`default/train/0000.parquet`).
    ///
    /// - Throws: `RowError.severalDataFiles`, `.badShards`, `.savedDataset`; `FileError`.
    init(path: String) throws {
        self.path = path
        let names = try DiskStore().names(in: path)
        for folder in [path, FilePath.join(path, "data")] where DataFiles.isDirectory(folder) {
            if try Self.files(for: .train, in: folder) != nil {
                base = folder
                return
            }
        }
        if names.contains("dataset_dict.json")
            || names.contains("state.json") && names.contains("dataset_info.json")
        {
            throw RowError.savedDataset(directory: path)
        }
        var others: [String] = []
        let folders = names.sorted().lazy.filter { name in
            !name.hasPrefix(".") && DataFiles.isDirectory(FilePath.join(path, name))
        }
        for name in folders.prefix(Limits.dataFolders) where Part.train.names != [name] {
            let folder = FilePath.join(path, name)
            if try Self.files(for: .train, in: folder) != nil { others.append(name) }
        }
        guard others.count <= 1 else {
            throw RowError.severalDataFiles(
                directory: path, names: others.map { $0 + "/" })
        }
        base = others.first.map { FilePath.join(path, $0) } ?? path
    }

    /// The files of a part.
    ///
    /// - Parameter part: which.
    /// - Returns: nil if there is none.
    /// - Throws: `RowError.severalDataFiles`, `.badShards`; `FileError`.
    func files(for part: Part) throws -> [WeightedFile]? {
        try Self.files(for: part, in: base)
    }

    /// Names of held-out rows that `datasets` and people use, and for which nothing looks: a file of that
    /// name may well be another thing, and runs began without it.
    private static let otherNames: [(part: Part, names: [String])] = [
        (.validation, Part.validation.names),
        (.test, Part.test.names + ["testing", "eval", "evaluation"]),
    ]

    /// Data files that people may take for held-out rows, and that are not read: where there are no rows for
    /// the part, those beside the training rows, in the folder itself and in `data/`; and folders beside a
    /// folder `train`.
    ///
    /// - Parameters:
    ///   - read: all files that are read.
    ///   - has: whether there are rows for a part.
    /// - Returns: paths, those of folders with a slash at their end.
    /// - Throws: `FileError`.
    func unread(besides read: [WeightedFile], has: (Part) -> Bool) throws -> [String] {
        let known = Set(read.map { DataFiles.place(of: $0.path) })
        let trainsInFolder = read.contains {
            $0.path.hasPrefix(FilePath.join(base, "train") + "/")
        }
        var found: [String] = []
        var folders = [base]
        for folder in [path, FilePath.join(path, "data")] where DataFiles.isDirectory(folder) {
            if !folders.contains(folder) { folders.append(folder) }
        }
        for folder in folders {
            let names = try DiskStore().names(in: folder).sorted()
            for (part, stems) in Self.otherNames where !has(part) {
                for name in names {
                    let whole = FilePath.join(folder, name)
                    if Self.isData(name, called: stems), !DataFiles.isDirectory(whole),
                        !known.contains(DataFiles.place(of: whole))
                    {
                        found.append(whole)
                    } else if trainsInFolder, folder == base, stems.contains(name),
                        DataFiles.isDirectory(whole),
                        try DiskStore().names(in: whole).contains(where: { Self.isData($0) })
                    {
                        found.append(whole + "/")
                    }
                }
            }
        }
        return found
    }

    /// Whether a name is that of a data file, with one of the stems.
    private static func isData(_ name: String, called stems: [String]? = nil) -> Bool {
        ([".jsonl"] + DataFileKind.suffixes).contains { suffix in
            guard name.hasSuffix(suffix) else { return false }
            return stems?.contains(String(name.dropLast(suffix.count))) ?? true
        }
    }

    /// - Throws: also `RowError.noTrainingFile`; `ForeignFileError` or
    ///   `RowError.unreadDataFile` for one that must be made another one first.
    func trainingFiles() throws -> [WeightedFile] {
        if let files = try files(for: .train) { return files }
        for folder in [path, FilePath.join(path, "data")] where DataFiles.isDirectory(folder) {
            let name = try DiskStore().names(in: folder).filter(DataFileKind.isUnread).min()
            guard let name else { continue }
            let file = try MappedFile(path: FilePath.join(folder, name))
            try file.withBytes { _ = try DataFileKind(path: file.path, bytes: $0) }
        }
        let isModel = ["config.json", "adapter_config.json", "run.json"].contains {
            DiskStore().exists(FilePath.join(path, $0))
        }
        throw RowError.noTrainingFile(directory: path, isModel: isModel)
    }

    /// In a folder: `train.jsonl` (mlx-lm's name, which wins), else the one that is called `train` and
    /// is of another kind, else the parts `train-00000-of-00002.parquet` and so on, else all Parquet
    /// files (or, without any, all .jsonl files) of the folder `train`, in order.
    private static func files(for part: Part, in directory: String) throws -> [WeightedFile]? {
        let names = try DiskStore().names(in: directory)
        let present = Set(names)
        for suffixes in [[".jsonl"], DataFileKind.suffixes] {
            let found = part.names.flatMap { name in
                suffixes.map { name + $0 }.filter(present.contains)
            }
            guard found.count <= 1 else {
                throw RowError.severalDataFiles(directory: directory, names: found)
            }
            if let only = found.first {
                return [WeightedFile(path: FilePath.join(directory, only))]
            }
        }
        if let shards = try shards(of: part, in: directory, names) { return shards }
        for name in part.names where present.contains(name) {
            let folder = FilePath.join(directory, name)
            guard DataFiles.isDirectory(folder) else { continue }
            let inner = try DiskStore().names(in: folder).filter { !$0.hasPrefix(".") }
            if let shards = try shards(of: part, in: folder, inner) { return shards }
            // Beside a file of training rows, a folder may be there for other reasons.
            let kinds = present.contains("train.jsonl") ? [".parquet"] : [".parquet", ".jsonl"]
            let found = kinds.map { suffix in inner.filter { $0.hasSuffix(suffix) } }
            guard let files = found.first(where: { !$0.isEmpty }) else { continue }
            try check(count: files.count)
            return files.sorted().map { WeightedFile(path: FilePath.join(folder, $0)) }
        }
        return nil
    }

    private static func check(count: Int) throws {
        guard count <= [WeightedFile].mostFiles else {
            throw RowError.badDataList(
                option: "data",
                problem: .tooMany(found: count, limit: [WeightedFile].mostFiles))
        }
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
        try check(count: total)
        // With two versions beside each other, or an unfinished download, it is not known which
        // rows are meant.
        guard found.map(\.index) == Array(0..<total), found.allSatisfy({ $0.total == total }) else {
            throw RowError.badShards(directory: directory, names: found.map(\.name))
        }
        return found.map { WeightedFile(path: FilePath.join(directory, $0.name)) }
    }

    /// The numbers in `train-00000-of-00002.parquet`.
    private static func shardNumbers(
        _ name: String, prefix: String
    ) -> (index: Int, total: Int)? {
        let suffix = [".parquet", ".jsonl", ".json"].first(where: name.hasSuffix)
        guard name.hasPrefix(prefix + "-"), let suffix else { return nil }
        let middle = name.dropFirst(prefix.count + 1).dropLast(suffix.count)
        let parts = middle.split(separator: "-", omittingEmptySubsequences: false)
        // A fingerprint may follow: train-00000-of-00001-0123456789abcdef.parquet.
        guard parts.count >= 3, parts[1] == "of", let index = Int(parts[0]),
            let total = Int(parts[2]),
            index >= 0, index < total
        else { return nil }
        return (index, total)
    }
}
