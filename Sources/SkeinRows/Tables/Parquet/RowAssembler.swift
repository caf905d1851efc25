import SkeinBasics
import SkeinJSON

/// Makes rows of the entries of their columns' leaves (Melnik et al. 2010, section 4.3), as JSON.
///
/// Fields that are null are left out: Parquet cannot tell null from absent. But for `content` directly
/// in a message: of one that calls tools it is null.
struct RowAssembler {
    private let columns: [SchemaNode]
    /// By the leaf's place in the file; nil for leaves of columns that are not wanted.
    private let cursors: [ColumnCursor?]
    private var out: [UInt8] = []
    /// What is wrong with the row, and in which column.
    private var fault: PageValues.Fault?
    private var faultyColumn = ""

    init(_ columns: [SchemaNode], _ cursors: [ColumnCursor?]) {
        self.columns = columns
        self.cursors = cursors
    }

    /// The next row.
    ///
    /// - Parameter number: of the row in the file.
    /// - Returns: the row, or what is wrong with it.
    /// - Throws: `TableProblem`.
    mutating func row(_ number: Int) throws(TableProblem) -> RowResult {
        let size = out.count
        out = []
        out.reserveCapacity(min(size + size / 4, 1 << 20))
        fault = nil
        out.append(UInt8(ascii: "{"))
        for column in columns {
            try forEachCursor(column) { (cursor) throws(TableProblem) in
                guard !cursor.isAtEnd else { throw cursor.damaged("is the last, too early") }
                guard cursor.repetition == 0 else {
                    throw cursor.damaged("has a wrong repetition level")
                }
            }
            let hadFault = fault != nil
            try field(column, isInMessage: false, isColumn: true)
            if !hadFault, fault != nil { faultyColumn = column.name }
        }
        out.append(UInt8(ascii: "}"))
        if let fault { return .failure(badRow(number, fault)) }
        return .success(TableRow(number: number, json: out))
    }

    /// Checks that no column has entries after the last row.
    func finish() throws(TableProblem) {
        for column in columns {
            try forEachCursor(column) { (cursor) throws(TableProblem) in
                guard cursor.isAtEnd else { throw cursor.damaged("has more values than rows") }
            }
        }
    }

    private func badRow(_ number: Int, _ fault: PageValues.Fault) -> BadRow {
        let name = JSONValue.quoted(faultyColumn)
        switch fault {
        case .tooLong: return .tooLong(number)
        case .notText:
            return BadRow(
                number: number, problem: "column \(name) holds bytes that are not UTF-8 text",
                remedy: "write the column as text")
        case .notFinite:
            return BadRow(
                number: number, problem: "column \(name) holds NaN or infinity",
                remedy: "write null instead, or remove the column")
        }
    }

    private func cursor(_ leaf: Int) -> ColumnCursor {
        guard let cursor = cursors[leaf] else {
            preconditionFailure("wanted columns have a cursor for each leaf")
        }
        return cursor
    }

    private func forEachCursor(
        _ node: SchemaNode, _ body: (ColumnCursor) throws(TableProblem) -> Void
    ) throws(TableProblem) {
        for leaf in node.leaves { try body(cursor(leaf)) }
    }

    /// Whether the entry here reaches a definition level. All leaves beneath must agree.
    private func reaches(_ level: Int, _ node: SchemaNode) throws(TableProblem) -> Bool {
        let isReached = cursor(node.leaves.lowerBound).definition >= level
        for leaf in node.leaves.dropFirst() {
            guard (cursor(leaf).definition >= level) == isReached else {
                throw cursor(leaf).damaged("has other nulls than the fields beside it")
            }
        }
        return isReached
    }

    /// Whether the entry here goes on with a list. All leaves beneath must agree.
    private func repeats(_ level: Int, _ node: SchemaNode) throws(TableProblem) -> Bool {
        let isRepeated = cursor(node.leaves.lowerBound).repetition == level
        for leaf in node.leaves.dropFirst() {
            guard (cursor(leaf).repetition == level) == isRepeated else {
                throw cursor(leaf).damaged("has other lists than the fields beside it")
            }
        }
        return isRepeated
    }

    private func advance(_ node: SchemaNode) throws(TableProblem) {
        for leaf in node.leaves { try cursor(leaf).advance() }
    }

    /// Appends a field of an object; `isInMessage`: of one in a list that is a column.
    private mutating func field(
        _ node: SchemaNode, isInMessage: Bool, isColumn: Bool = false
    ) throws(TableProblem) {
        let isThere = try reaches(node.present, node)
        guard isThere || isInMessage && node.name == "content" else { return try advance(node) }
        if out.last != UInt8(ascii: "{") { out.append(UInt8(ascii: ",")) }
        out.append(contentsOf: node.key)
        if isThere { try value(node, isColumn: isColumn) } else { try null(node) }
    }

    private mutating func null(_ node: SchemaNode) throws(TableProblem) {
        out.append(contentsOf: "null".utf8)
        try advance(node)
    }

    /// Appends a value that is not null; `isColumn`: of a whole column; `isMessage`: in the list that
    /// one is.
    private mutating func value(
        _ node: SchemaNode, isColumn: Bool = false, isMessage: Bool = false
    ) throws(TableProblem) {
        switch node.kind {
        case .leaf:
            let cursor = cursor(node.leaves.lowerBound)
            try cursor.append(to: &out, &fault)
            try cursor.advance()
        case .structure(let fields):
            out.append(UInt8(ascii: "{"))
            for node in fields { try field(node, isInMessage: isMessage) }
            out.append(UInt8(ascii: "}"))
        case .list(let element, let filled, let repetition):
            try list(node, element, filled, repetition, ofMessages: isColumn)
        case .refused: preconditionFailure("wanted columns have no type that is refused")
        }
        // What stands there already is no use any more.
        if out.count > Limits.rowBytes {
            fault = fault ?? .tooLong
            out = [UInt8(ascii: "{")]
        }
    }

    private mutating func list(
        _ node: SchemaNode, _ element: SchemaNode, _ filled: Int, _ repetition: Int,
        ofMessages: Bool
    ) throws(TableProblem) {
        out.append(UInt8(ascii: "["))
        if try reaches(filled, node) {
            repeat {
                if out.last != UInt8(ascii: "[") { out.append(UInt8(ascii: ",")) }
                if try reaches(element.present, element) {
                    try value(element, isMessage: ofMessages)
                } else {
                    try null(element)
                    if out.count > Limits.rowBytes {
                        fault = fault ?? .tooLong
                        out = [UInt8(ascii: "[")]
                    }
                }
            } while try repeats(repetition, node)
        } else {
            try advance(node)
        }
        out.append(UInt8(ascii: "]"))
    }
}
