import SkeinBasics
import SkeinJSON

extension TableProblem {
    /// What is wrong, a sentence without a full stop. It does not name the file.
    package var what: String {
        switch self {
        case .noHeader: "the file has no line that names its columns"
        case .utf16: "the file is UTF-16 text, not UTF-8"
        case .badName(let column, let problem): "the name of column \(column) \(problem)"
        case .emptyName(let column): "column \(column) has no name"
        case .sameName(let name, let columns):
            "columns \(columns.map(String.init).joined(separator: " and ")) have the same name, "
                + JSONValue.quoted(name)
        case .tooManyColumns(let limit): "the file has more than \(limit) columns"
        case .tornQuote(let line): "the quote that opens in line \(line) is never closed"
        case .notAList: "the file is not one JSON array"
        case .brokenList(let row, let offset, let expected):
            "row \(row) of the JSON array: expected \(expected) at byte \(offset)"
        case .tooManyRows(let limit): "the file has more than \(limit) rows"
        case .notParquet: "the file is no whole Parquet file: it does not start and end with PAR1"
        case .encrypted: "the Parquet file is encrypted"
        case .damaged(let part, let offset, let problem):
            "the Parquet file is damaged: \(part) at byte \(offset) \(problem)"
        case .tooLarge(let part, let limit, let found):
            "\(part) of the Parquet file: \(Figures.grouped(found)), and at most "
                + "\(Figures.grouped(limit)) can be read"
        case .unsupported(let column, .codec(let name)):
            "column \(JSONValue.quoted(column)) is compressed with \(name)"
        case .unsupported(let column, .encoding(let name)):
            "column \(JSONValue.quoted(column)) is encoded with \(name)"
        case .unsupported(let column, .type(let name)):
            "column \(JSONValue.quoted(column)) has the type \(name)"
        case .noWantedColumn(let found):
            "the file has none of the columns that rows can have, but "
                + found.prefix(20).map(JSONValue.quoted).joined(separator: ", ")
                + (found.count > 20 ? " and \(found.count - 20) more" : "")
        }
    }

    /// How to mend it.
    package var remedy: String {
        switch self {
        case .noHeader: "put the columns' names into the first line, such as prompt,completion"
        case .utf16: "save the file as UTF-8"
        case .badName: "write the names as UTF-8 text, in quotes if they hold a separator or quotes"
        case .emptyName:
            "name each column in the first line; pandas leaves its index out with "
                + "df.to_csv(path, index=False)"
        case .sameName: "give each column a name of its own"
        case .tooManyColumns: "keep the columns that rows need"
        case .tornQuote: "close it, and write a quote inside a quoted cell as two"
        case .notAList: "write one array of objects, [{...}, {...}], or one object on each line"
        case .brokenList: "mend the JSON there; python3 -m json.tool shows a file's first error"
        case .tooManyRows: "cut the file into several"
        case .notParquet, .damaged: "copy or download the file again, or write it again"
        case .encrypted: "write it without encryption"
        case .tooLarge("values", _, _), .tooLarge("bytes of all rows", _, _):
            "cut it into several files, and name all of them"
        case .tooLarge:
            "write it again with smaller pages, such as pyarrow's pq.write_table(t, path, "
                + "compression='snappy', data_page_size=1 << 20, write_batch_size=64)"
        case .unsupported(_, .type):
            "remove the column, or cast it to text, integers or floats before you write the file"
        case .unsupported:
            "write it again with pyarrow: pq.write_table(t, path, compression='snappy')"
        case .noWantedColumn:
            "rename the columns to those of a row: text, prompt and completion, messages, ..."
        }
    }
}
