import SkeinJSON

/// A file that is one JSON array of objects. Each row is the object's own text.
package struct JSONList {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// After the bracket that opens the array.
    private let start: Int

    /// - Parameter bytes: the whole file; it must stay where it is as long as the list is used.
    /// - Throws: `TableProblem.notAList`, `.utf16`.
    package init(_ bytes: UnsafeRawBufferPointer) throws(TableProblem) {
        self.bytes = bytes.bindMemory(to: UInt8.self)
        let start = try TextStart.of(bytes)
        let place = JSONReader.blanks(self.bytes, from: start)
        guard place < bytes.count, bytes[place] == UInt8(ascii: "[") else { throw .notAList }
        self.start = place + 1
    }

    /// Gives each row to `body`, in the file's order.
    ///
    /// An element that is no object, no JSON or longer than a row may be is a `BadRow` as long as its
    /// brackets show where it ends.
    ///
    /// - Parameter body: is called for each row; its errors end the reading.
    /// - Throws: `TableProblem.brokenList`, `.tooManyRows`; what `body` throws.
    package func forEachRow(_ body: (RowResult) throws -> Void) throws {
        var place = JSONReader.blanks(bytes, from: start)
        var row = 0
        if place < bytes.count, bytes[place] == UInt8(ascii: "]") {
            return try requireEnd(after: place + 1, row: row)
        }
        while true {
            row += 1
            guard row <= RowLimits.rows else {
                throw TableProblem.tooManyRows(limit: RowLimits.rows)
            }
            let (result, end) = try element(row, at: place)
            try body(result)
            place = JSONReader.blanks(bytes, from: end)
            switch place < bytes.count ? bytes[place] : 0 {
            case UInt8(ascii: ","): place = JSONReader.blanks(bytes, from: place + 1)
            case UInt8(ascii: "]"): return try requireEnd(after: place + 1, row: row)
            default:
                throw TableProblem.brokenList(
                    row: row, offset: place, expected: "a comma or ] after it")
            }
        }
    }

    private func requireEnd(after place: Int, row: Int) throws(TableProblem) {
        let end = JSONReader.blanks(bytes, from: place)
        guard end == bytes.count else {
            throw .brokenList(row: row, offset: end, expected: "nothing after the array")
        }
    }

    /// The element at `place`, and where it ends.
    private func element(
        _ row: Int, at place: Int
    ) throws(TableProblem) -> (result: RowResult, end: Int) {
        let remedy = "write each row as an object, {\"prompt\": ..., \"completion\": ...}"
        do {
            let end = try RowJSON.end(bytes, from: place)
            let text = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[place..<end]))
            if text.count > Limits.rowBytes { return (.failure(.tooLong(row)), end) }
            guard bytes[place] == UInt8(ascii: "{") else {
                let problem = "the row is not a JSON object"
                return (.failure(BadRow(number: row, problem: problem, remedy: remedy)), end)
            }
            guard UTF8Check.isValid(text) else {
                return (.failure(.notUTF8(row)), end)
            }
            return (.success(TableRow(number: row, json: [UInt8](text))), end)
        } catch {
            let end = try bracketedEnd(row, from: place)
            let problem =
                "the row is not JSON: expected \(RowJSON.expected(error)) at byte \(error.offset)"
            return (.failure(BadRow(number: row, problem: problem, remedy: remedy)), end)
        }
    }

    /// Where an element that is no JSON ends: before a comma or bracket of the list itself.
    private func bracketedEnd(_ row: Int, from start: Int) throws(TableProblem) -> Int {
        var depth = 0
        var place = start
        var isInString = false
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\") where isInString: place += 1
            case _ where isInString: break
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ",") where depth == 0: return place
            case UInt8(ascii: "]") where depth == 0 && place > start: return place
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard depth > 0 else {
                    throw .brokenList(row: row, offset: place, expected: "a value")
                }
                depth -= 1
            default: break
            }
            place += 1
        }
        throw .brokenList(
            row: row, offset: bytes.count, expected: isInString ? "the end of a string" : "]")
    }
}

extension BadRow {
    static func notUTF8(_ number: Int) -> BadRow {
        BadRow(
            number: number, problem: "the row is not UTF-8 text",
            remedy: "save the file as UTF-8")
    }
}

/// The marks with which a text file may start.
enum TextStart {
    /// Where the text starts, after a byte order mark.
    ///
    /// - Throws: `TableProblem.utf16`.
    static func of(_ bytes: UnsafeRawBufferPointer) throws(TableProblem) -> Int {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return 3 }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { throw .utf16 }
        return 0
    }
}
