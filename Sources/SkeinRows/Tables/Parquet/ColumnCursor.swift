/// Goes through the entries of one leaf in one row group, page by page.
///
/// An entry has two levels and, if its definition level is the leaf's greatest, a value.
final class ColumnCursor {
    /// The levels of the entry here; 0 at the end.
    private(set) var repetition = 0
    private(set) var definition = 0
    private(set) var isAtEnd = false

    private let column: String
    private let leaf: Schema.Leaf
    private let kind: SchemaNode.LeafKind
    private var pages: PageReader
    /// Entries of the row group in pages that are still to be read.
    private var chunkLeft: Int
    private var pageLeft = 0
    private var pageOffset = 0
    private var repetitions: RunLengths
    private var definitions: RunLengths
    private var values: PageValues
    private var dictionary: PageValues?
    /// Places in the dictionary; nil if the page's values stand in it.
    private var indices: RunLengths?

    /// Stands at the first entry.
    ///
    /// - Parameters:
    ///   - pages: of the leaf in this row group.
    ///   - column: for problems.
    ///   - leaf: how deep its levels go.
    ///   - kind: of its values.
    ///   - valueCount: entries of the row group.
    /// - Throws: `TableProblem.damaged`, `.unsupported`, `.tooLarge`.
    init(
        _ pages: PageReader, column: String, leaf: Schema.Leaf, kind: SchemaNode.LeafKind,
        valueCount: Int
    ) throws(TableProblem) {
        self.pages = pages
        self.column = column
        self.leaf = leaf
        self.kind = kind
        chunkLeft = valueCount
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        repetitions = RunLengths(nothing, width: 0)
        definitions = repetitions
        values = PageValues(nothing, kind)
        try advance()
    }

    func damaged(_ problem: String) -> TableProblem {
        .damaged(part: PageReader.part(column), offset: pageOffset, problem: problem)
    }

    /// Goes to the next entry. The value of this one must have been taken.
    func advance() throws(TableProblem) {
        if pageLeft == 0 {
            guard chunkLeft > 0 else {
                (repetition, definition, isAtEnd) = (0, 0, true)
                return
            }
            try nextPage()
        }
        pageLeft -= 1
        if leaf.mostRepetition > 0 {
            guard let level = repetitions.next(), level <= leaf.mostRepetition else {
                throw damaged("has a wrong repetition level")
            }
            repetition = level
        }
        if leaf.mostDefinition > 0 {
            guard let level = definitions.next(), level <= leaf.mostDefinition else {
                throw damaged("has a wrong definition level")
            }
            definition = level
        }
    }

    /// Appends the value of this entry, which has one, as JSON.
    ///
    /// - Parameters:
    ///   - out: a row that grows.
    ///   - fault: is set when the value has one, and was not appended.
    /// - Throws: `TableProblem.damaged`.
    func append(to out: inout [UInt8], _ fault: inout PageValues.Fault?) throws(TableProblem) {
        guard indices != nil else {
            guard values.append(to: &out, &fault) else { throw damaged("has too few values") }
            return
        }
        guard let index = indices?.next() else { throw damaged("has too few values") }
        guard dictionary?.append(index: index, to: &out, &fault) == true else {
            throw damaged("has a value that is not in the dictionary")
        }
    }

    /// Begins the next page that has entries.
    private func nextPage() throws(TableProblem) {
        while pageLeft == 0 {
            guard let page = try pages.next() else { throw damaged("is the last, too early") }
            pageOffset = page.offset
            if page.header.kind == .dictionary {
                try readDictionary(page)
                continue
            }
            guard page.header.valueCount <= chunkLeft else {
                throw damaged("has more values than its row group")
            }
            chunkLeft -= page.header.valueCount
            pageLeft = page.header.valueCount
            if pageLeft > 0 { try open(page) }
        }
    }

    private func readDictionary(_ page: PageReader.Page) throws(TableProblem) {
        let encoding = page.header.encoding
        guard [PageEncoding.plain, PageEncoding.plainDictionary].contains(encoding) else {
            throw unsupported(encoding)
        }
        guard dictionary == nil else { throw damaged("is a second dictionary") }
        dictionary = PageValues(dictionary: page.body, count: page.header.valueCount, kind)
        guard dictionary != nil else { throw damaged("is shorter than its values") }
    }

    private func unsupported(_ encoding: Int32) -> TableProblem {
        .unsupported(column: column, feature: .encoding(PageEncoding.name(encoding)))
    }

    private func open(_ page: PageReader.Page) throws(TableProblem) {
        var body = page.body
        if page.header.kind == .dataV2 {
            repetitions = RunLengths(page.repetitions, width: Self.width(leaf.mostRepetition))
            definitions = RunLengths(page.definitions, width: Self.width(leaf.mostDefinition))
        } else {
            repetitions = try levels(
                leaf.mostRepetition, page.header.repetitionEncoding, &body)
            definitions = try levels(
                leaf.mostDefinition, page.header.definitionEncoding, &body)
        }
        indices = nil
        switch page.header.encoding {
        case PageEncoding.plain: values = PageValues(body, kind)
        case PageEncoding.plainDictionary, PageEncoding.rleDictionary:
            // A page of nulls only has no indices, not even their width.
            let width = Int(body.first ?? 0)
            guard width <= 32 else { throw damaged("has indices of \(width) bits") }
            indices = RunLengths(UnsafeRawBufferPointer(rebasing: body.dropFirst()), width: width)
        case PageEncoding.rle:
            guard case .boolean = kind else { throw unsupported(PageEncoding.rle) }
            values = PageValues(flags: RunLengths(try prefixed(&body), width: 1))
        default: throw unsupported(page.header.encoding)
        }
    }

    /// Bits of the levels 0 to `most`.
    private static func width(_ most: Int) -> Int {
        Int.bitWidth - most.leadingZeroBitCount
    }

    /// Cuts the levels from the front of a page of version 1.
    private func levels(
        _ most: Int, _ encoding: Int32, _ body: inout UnsafeRawBufferPointer
    ) throws(TableProblem) -> RunLengths {
        guard most > 0 else { return RunLengths(body, width: 0) }
        guard encoding == PageEncoding.rle else { throw unsupported(encoding) }
        return RunLengths(try prefixed(&body), width: Self.width(most))
    }

    /// Cuts bytes with their length, 32 bits, from the front of `body`.
    private func prefixed(
        _ body: inout UnsafeRawBufferPointer
    ) throws(TableProblem) -> UnsafeRawBufferPointer {
        guard body.count >= 4 else { throw damaged("has no length of its levels") }
        let length = Int(UInt32(littleEndian: body.loadUnaligned(as: UInt32.self)))
        guard length <= body.count - 4 else { throw damaged("is shorter than its levels") }
        let bytes = UnsafeRawBufferPointer(rebasing: body[4..<(4 + length)])
        body = UnsafeRawBufferPointer(rebasing: body[(4 + length)...])
        return bytes
    }
}
