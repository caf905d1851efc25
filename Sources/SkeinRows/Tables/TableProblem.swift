/// Why a file is no table that can be read, as facts. `what` and `remedy` say it in prose.
package enum TableProblem: Error, Equatable, Sendable {
    /// A CSV or TSV file without a line that names its columns.
    case noHeader
    /// A text file in UTF-16.
    case utf16
    /// The name of a column, counted from 1, is not UTF-8, or its quotes are wrong.
    case badName(column: Int, problem: String)
    case emptyName(column: Int)
    case sameName(String, columns: [Int])
    case tooManyColumns(limit: Int)
    /// A quote that is never closed; the line of the file in which it opens.
    case tornQuote(line: Int)
    /// The file does not start with `[`.
    case notAList
    /// A JSON list whose syntax is wrong between two rows, or which ends too early.
    case brokenList(row: Int, offset: Int, expected: String)
    case tooManyRows(limit: Int)

    case notParquet
    case encrypted
    /// Bytes of a Parquet file that contradict the format; the offset is one of the file.
    case damaged(part: String, offset: Int, problem: String)
    /// A Parquet file that asks for more than `Limits` allow.
    case tooLarge(part: String, limit: Int, found: Int)
    /// A wanted column has a codec, an encoding or a type that Skein does not read.
    case unsupported(column: String, feature: Feature)
    /// None of the wanted columns is there.
    case noWantedColumn(found: [String])

    package enum Feature: Equatable, Sendable {
        case codec(String)
        case encoding(String)
        case type(String)
    }
}
