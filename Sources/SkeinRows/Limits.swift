/// Bounds that others know, too.
package enum RowLimits {
    /// Rows of a file. Random numbers are addressed by row, with 32 bits.
    package static let rows = 1 << 31

    /// Tokens of a row, also where it is cut into several sequences, and of a micro-batch: more than any
    /// context that a machine without accelerators can train. Half of what a lease carries, so that a
    /// micro-batch of `--micro-batch-tokens` and one row still fit.
    package static let tokens = 1 << 20
}

/// Bounds on everything that this room reads and keeps, with their arithmetic.
enum Limits {
    /// One row as JSON, as much as a line of a data file may have: 16 MiB of text is about 4 million
    /// tokens, thirty times the longest context of a model that a CPU can train.
    static let rowBytes = 16 << 20

    /// Columns of a table. Data for training has below 50; a thousand columns are a matrix of numbers.
    static let columns = 1024

    /// Bytes of a column's name, which is repeated in each row.
    static let nameBytes = 1024

    /// Arrays and objects inside each other in JSON. Tools' schemas go down to about 20.
    static let jsonDepth = 512

    /// Elements of a Parquet schema: 1024 columns of 16 elements. At about 150 bytes each they take
    /// 2.5 MB.
    static let schemaElements = 16 << 10

    /// Levels of a Parquet schema. A list takes two of them; messages with calls of tools take seven.
    static let schemaDepth = 32

    /// Structs and lists inside each other in Parquet's own metadata, which needs eight.
    static let thriftDepth = 32

    /// Parquet's footer. Statistics of 1000 columns in 1000 row groups take some 100 MB; it is a part of
    /// the mapped file and is not copied.
    static let footerBytes = 256 << 20

    /// Row groups: 8 bytes are kept of each. Writers put 1000 to a million rows into one.
    static let rowGroups = 1 << 20

    /// Header of a page, which holds two statistics: a smallest and a greatest value of a column.
    static let pageHeaderBytes = 2 * rowBytes

    /// One page after decompression. Writers aim at 1 MiB but look after every 1024 values, so that
    /// long texts make pages of 1024 x 100 kB = 100 MB.
    static let pageBytes = 256 << 20

    /// Values of one page. A page of 1 MiB of equal values has as many as its row group; Arrow's
    /// largest row group has 64 Mi rows.
    static let pageValues = 64 << 20

    /// Values of one column in one row group: 32 elements of a list in each of 64 Mi rows. Equal ones take
    /// no bytes of their own, but each takes some 20 ns: 40 seconds.
    static let chunkValues = 1 << 31

    /// Values of the wanted columns in all row groups: equal ones take no bytes of their own, but each takes
    /// some 20 ns, and each row a microsecond. A megabyte of a table that is nearly empty may have 250 million.
    static func values(of fileBytes: Int) -> Int { (8 << 20) + 256 * fileBytes }

    /// All rows as JSON. A system prompt that each row repeats stands in the file once; 64 times the file
    /// is more than was seen of real data (2 to 20 times). Not above what a data file may have.
    static func rowsBytes(of fileBytes: Int) -> Int {
        min(8 << 30, (256 << 20) + 64 * fileBytes)
    }

    /// Decompressed pages of all columns together: 10 columns of pages of 100 MB each.
    static let openBytes = 1 << 30

    /// One line of a data file. 16 MiB of text is about 4 million tokens, thirty times the longest
    /// context of a model that a CPU can train; a longer line is a wrong file.
    static let lineBytes = 16 << 20

    /// A data file. 8 GiB of text is 2 billion tokens: 70 days on a machine that trains 350 tokens
    /// a second. Its rows are in memory, as text and as 4-byte ids.
    static let dataFileBytes = 8 << 30

    /// Lists and objects in each other in a row, read or not, as for JSON of schemas. The parts that a
    /// template sees have a lower limit, its own.
    static let rowDepth = 128

    /// Folders of a data set that are looked into: the Hub's largest have some hundred configurations, of
    /// which one is wanted.
    static let dataFolders = 1024

    /// Messages of one conversation; at 4 template tokens each they fill 16,000 tokens.
    static let turns = 4096

    /// Bad lines and skipped rows whose place is kept; all are counted.
    static let keptBadLines = 5

    /// Files of the token cache: one for each data file, tokenizer and length in use.
    static let tokenCacheFiles = 32

    /// All files of the token cache together: half the largest data file. At 4 bytes a token,
    /// 4 GiB is a billion tokens.
    static let tokenCacheBytes = 4 << 30
}
