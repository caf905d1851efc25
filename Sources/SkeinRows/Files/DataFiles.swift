import Foundation
import SkeinBasics

/// Which files a run trains on, validates with and tests with.
package struct DataFiles: Sendable, Equatable {
    /// At least one.
    package let train: [WeightedFile]
    /// Without weights; nil: a share of the training rows is held out instead.
    package let validation: [WeightedFile]?
    package let test: [WeightedFile]?
    /// Data files in the folder that people may take for held-out rows, and that are not read.
    package let unread: [String]

    /// Finds the files behind `--data`, `--valid-data` and `--test-data`.
    ///
    /// Each is a file or several with commas between them, `--data` also a folder, or files with weights
    /// after a colon. A text that is the path of a file or folder as a whole is never taken apart.
    /// In a folder, `DataFolder` finds the files. The flags win over files in the folder.
    ///
    /// - Throws: `RowError.noTrainingFile`, `.severalDataFiles`, `.badDataList`. A path that does
    ///   not exist is reported when it is read.
    package init(path: String, validation: String? = nil, test: String? = nil) throws {
        let folder = Self.isDirectory(path) ? try DataFolder(path: path) : nil
        func held(_ text: String?, _ option: String, _ part: DataFolder.Part) throws
            -> [WeightedFile]?
        {
            guard let text else { return try folder?.files(for: part) }
            return try Self.evaluated(text, option: option)
        }
        train = try folder?.trainingFiles() ?? DataList(path, option: "data").files
        self.validation = try held(validation, "valid-data", .validation)
        self.test = try held(test, "test-data", .test)
        let (validation, test) = (self.validation, self.test)
        unread =
            try folder?.unread(besides: train + (validation ?? []) + (test ?? [])) {
                switch $0 {
                case .train: true
                case .validation: validation != nil
                case .test: test != nil
                }
            } ?? []
    }

    /// Several texts of files, each as `--data` has it.
    ///
    /// - Throws: as the other; `RowError.badDataList` for a folder beside others.
    package init(paths: [String], validation: String? = nil) throws {
        guard paths.count > 1 else {
            try self.init(path: paths.first ?? "", validation: validation)
            return
        }
        let train = try paths.flatMap { path in
            guard !Self.isDirectory(path) else {
                throw RowError.badDataList(option: "data", problem: .folder(path: path))
            }
            return try DataList(path, option: "data").files
        }
        do throws(DataListProblem) {
            try DataList.checkRepeated(train)
        } catch {
            throw RowError.badDataList(option: "data", problem: error)
        }
        self.init(
            train: train,
            validation: try validation.map { try Self.evaluated($0, option: "valid-data") })
    }

    private init(train: [WeightedFile], validation: [WeightedFile]?) {
        self.train = train
        self.validation = validation
        test = nil
        unread = []
    }

    /// Files whose rows are evaluated.
    ///
    /// - Throws: `RowError.badDataList`, `.folderToEvaluate`.
    package static func evaluated(_ text: String, option: String = "data") throws -> [WeightedFile]
    {
        let files = try DataList(text, option: option).files
        guard files.allSatisfy({ $0.weight == 1 }) else {
            throw RowError.badDataList(option: option, problem: .weightOfHeldOut)
        }
        if let path = files.first(where: { isDirectory($0.path) })?.path {
            let folder = try DataFolder(path: path)
            let held = try folder.files(for: .test) ?? folder.files(for: .validation) ?? []
            throw RowError.folderToEvaluate(
                directory: path, option: option,
                files: held.count <= 8 ? held.map(\.path) : [])
        }
        return files
    }

    /// `--data` as it was given, without the folders that files are in, but for as many as tell two of
    /// them apart.
    package static func withoutFolders(_ path: String) -> String {
        // What cannot be read as a list is the name of one file.
        guard let list = try? DataList(path, option: "data"),
            list.files.count > 1 || list.files[0].weight != 1
        else { return FilePath.name(of: path) }
        let parts = path.split(separator: ",").map { part in
            part.drop { $0 == " " }.split(separator: "/", omittingEmptySubsequences: true)
        }
        let files = list.files.map { $0.path.split(separator: "/") }
        let deepest = max(1, parts.map(\.count).max() ?? 1)
        let kept = (1..<deepest).first { kept in
            let names = files.map { Array($0.suffix(kept).joined(separator: "/").utf8) }
            return Set(names).count == names.count
        }
        return parts.map { $0.suffix(kept ?? deepest).joined(separator: "/") }
            .joined(separator: ",")
    }

    /// A path without dots, by its bytes: the same letters composed in another way are another name.
    package static func place(of path: String) -> [UInt8] {
        Array(URL(fileURLWithPath: path).standardizedFileURL.path.utf8)
    }

    static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            && isDirectory.boolValue
    }
}

/// A text that names data files: `A.jsonl:2,B.csv`.
struct DataList {
    let files: [WeightedFile]

    /// - Parameters:
    ///   - text: one path, or several with commas between them, each with `:WEIGHT` or without.
    ///   - option: that has it, without dashes.
    /// - Throws: `RowError.badDataList`.
    init(_ text: String, option: String) throws {
        if FileManager.default.fileExists(atPath: text) {
            files = [WeightedFile(path: text)]
            return
        }
        do throws(DataListProblem) {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count <= [WeightedFile].mostFiles else {
                throw .tooMany(found: parts.count, limit: [WeightedFile].mostFiles)
            }
            files = try parts.map { part throws(DataListProblem) in
                try Self.file(parts.count == 1 ? text : Self.trimmed(part))
            }
            try Self.checkRepeated(files)
        } catch {
            throw RowError.badDataList(option: option, problem: error)
        }
    }

    /// Blanks around commas are not a part of names.
    private static func trimmed(_ part: Substring) -> String {
        let start = part.drop { $0 == " " }
        let end = start.lastIndex { $0 != " " } ?? start.startIndex
        return start.isEmpty ? "" : String(start[...end])
    }

    /// Copies of a file would be held out and trained on, those of a weight are not.
    static func checkRepeated(_ files: [WeightedFile]) throws(DataListProblem) {
        var known: Set<[UInt8]> = []
        for file in files {
            guard known.insert(DataFiles.place(of: file.path)).inserted else {
                throw .repeated(path: file.path)
            }
        }
    }

    private static func file(_ text: String) throws(DataListProblem) -> WeightedFile {
        guard !text.isEmpty else { throw .empty }
        let (path, weight) = try weighted(text)
        if DataFiles.isDirectory(path) { throw .folder(path: path) }
        return WeightedFile(path: path, weight: weight)
    }

    /// What stands after the last colon is a weight, unless a file has the whole as its name.
    private static func weighted(
        _ text: String
    ) throws(DataListProblem) -> (path: String, weight: Double) {
        guard let colon = text.lastIndex(of: ":"), !FileManager.default.fileExists(atPath: text)
        else { return (text, 1) }
        let path = String(text[..<colon])
        let after = String(text[text.index(after: colon)...])
        guard let weight = Double(after) else {
            // Only where the rest is a file was a weight meant.
            guard FileManager.default.fileExists(atPath: path) else { return (text, 1) }
            throw .weight(text: after, path: path)
        }
        guard weight > 0, weight <= WeightedFile.mostWeight else {
            throw .weight(text: after, path: path)
        }
        guard !path.isEmpty else { throw .empty }
        return (path, weight)
    }
}

/// Why a list of data files cannot be used.
package enum DataListProblem: Error, Equatable, Sendable {
    /// Nothing stands between two commas, or before a colon.
    case empty
    case tooMany(found: Int, limit: Int)
    /// What stands after the colon is no weight.
    case weight(text: String, path: String)
    /// A list names files.
    case folder(path: String)
    /// A file stands twice in a list.
    case repeated(path: String)
    /// Rows that are evaluated are evaluated once.
    case weightOfHeldOut
}
