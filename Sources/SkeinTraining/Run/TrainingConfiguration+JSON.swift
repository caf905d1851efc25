import SkeinBasics

// The options of a run as bytes: in run.json, and from a coordinator to its workers.
extension TrainingConfiguration {
    /// The `configuration` object of run.json, on one line.
    package var json: [UInt8] { Array(JSONLine(fields).text.utf8) }

    /// Reads `json` back.
    ///
    /// - Parameters:
    ///   - bytes: of a JSON object that names options; those it does not name keep their defaults.
    ///   - path: where they come from, for the error.
    /// - Throws: `TrainingError.damagedRecord` that names the option.
    package init(json bytes: [UInt8], path: String) throws {
        guard bytes.count <= Limits.recordFileBytes else {
            throw TrainingError.damagedRecord(
                path: path, line: nil,
                detail: "\(bytes.count) bytes, more than \(Limits.recordFileBytes)")
        }
        try self.init(recorded: RecordFile.object(from: bytes, path: path), path: path)
    }

    /// Takes what `fields` gave.
    init(recorded object: [String: Any], path: String) throws {
        self.init()
        do {
            try apply(object)
        } catch let error as TrainingError {
            throw TrainingError.damagedRecord(
                path: path, line: nil, detail: "configuration: \(error.explanation.what)")
        }
    }
}
