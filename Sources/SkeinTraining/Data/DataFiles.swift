import Foundation
import SkeinBasics

/// Which files a run trains on, validates with and tests with.
package struct DataFiles: Sendable, Equatable {
    package let train: String
    /// nil: a share of the training rows is held out instead.
    package let validation: String?
    package let test: String?

    /// Finds the files behind `--data`, `--valid-data` and `--test-data`.
    ///
    /// A directory has `train.jsonl` and optionally `valid.jsonl` and `test.jsonl` (mlx-lm's
    /// names). The flags win over files in the directory.
    ///
    /// - Throws: `TrainingError.noTrainingFile` for a directory without `train.jsonl`. A path that
    ///   does not exist is reported when it is read.
    package init(path: String, validation: String? = nil, test: String? = nil) throws {
        guard Self.isDirectory(path) else {
            train = path
            self.validation = validation
            self.test = test
            return
        }
        func inside(_ name: String) -> String? {
            let file = FilePath.join(path, name)
            return FileManager.default.fileExists(atPath: file) ? file : nil
        }
        guard let train = inside("train.jsonl") else {
            throw TrainingError.noTrainingFile(directory: path)
        }
        self.train = train
        self.validation = validation ?? inside("valid.jsonl")
        self.test = test ?? inside("test.jsonl")
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            && isDirectory.boolValue
    }
}
