import SkeinBasics

/// Something in a row because of which it may train other text than was meant.
package enum RowRemark: Int, CaseIterable, Sendable {
    /// An answer says nothing; its end of turn is learned.
    case emptyAnswer
    /// A completion begins with white space.
    case leadingSpace
    /// No white space is between prompt and completion.
    case adjoining
    /// A speaker whom neither templates in general nor this one know.
    case unknownRole
    /// A field in a call's arguments or in tools is null, which Parquet could not tell from absent.
    case explicitNull
    /// An answer has a label that is a number.
    case numericLabel
    /// The template leaves out an answer that should be learned.
    case lostTurn
    /// A turn has words and calls, and the template writes one of both.
    case lostPart
    /// The generation prompt is not how the answer begins in training.
    case otherPrompt
    /// A line of a .txt file that goes on with the line before.
    case wrappedLine
    /// "text" is learned as it is, and another complete form beside it is not.
    case textAlone

    /// What is wrong with `count` rows, without a full stop.
    func text(_ count: Int) -> String {
        let rows = Figures.count(count, "row")
        return switch self {
        case .emptyAnswer:
            "\(rows) with an empty answer, which teaches the model to say nothing"
        case .leadingSpace:
            "\(rows) with a completion that starts with white space, which the model learns unless the "
                + "chat template trims it"
        case .adjoining:
            "\(rows) without white space between prompt and completion, which --prompt-format raw "
                + "joins as they are"
        case .unknownRole:
            "\(rows) with a speaker whom the chat template may not know; system, user, assistant and "
                + "tool are known"
        case .explicitNull:
            "\(rows) with fields that are null inside of messages' fields or tools: the template sees "
                + "them, and the same rows as Parquet would not have them; leave such fields out"
        case .numericLabel:
            "\(rows) with a number as \"label\" beside an answer: every answer is "
                + "learned, whatever its label; remove the rows whose answer is bad"
        case .lostTurn:
            "\(rows) of which the chat template leaves out an answer: it is not learned"
        case .lostPart:
            "\(rows) with a turn that has words and calls, of which the chat template writes one alone"
        case .otherPrompt:
            "\(rows) whose answer begins otherwise in the chat template than the prompt for an "
                + "answer ends: the model is trained on one text and asked with another; choose "
                + "another template or template argument (enable_thinking=false, for many)"
        case .wrappedLine:
            "\(rows) of a .txt file that seem to go on with the line before, though each line is "
                + "learned as a text by itself; --text-chunks on reads what blank lines separate as "
                + "one text"
        case .textAlone:
            "\(rows) of which \"text\" is learned as it stands, with the question in it, and not what stands "
                + "beside it; --field instruction=instruction (or conversations=conversations) learns "
                + "the answer alone, --field text=text says that the text is meant"
        }
    }
}

/// Remarks on one row.
package struct RowRemarks: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    init(_ remark: RowRemark) {
        self.init(rawValue: 1 << UInt16(remark.rawValue))
    }

    package func contains(_ remark: RowRemark) -> Bool { contains(RowRemarks(remark)) }

    mutating func insert(_ remark: RowRemark) { formUnion(RowRemarks(remark)) }
}

/// How many rows of a file have each remark, and where the first one is.
package struct RemarkCounts: Sendable, Equatable {
    /// By the remark's raw value.
    private(set) var counts = [Int](repeating: 0, count: RowRemark.allCases.count)
    private(set) var lines = [Int](repeating: 0, count: RowRemark.allCases.count)
    private var paths = [String](repeating: "", count: RowRemark.allCases.count)

    init() {}

    /// - Parameters:
    ///   - counts: by the remark's raw value.
    ///   - lines: of the first row with each, 0 where there is none.
    ///   - path: of the file.
    init(counts: [Int], lines: [Int], path: String) {
        precondition(counts.count == self.counts.count && lines.count == counts.count)
        self.counts = counts
        self.lines = lines
        paths = counts.map { $0 > 0 ? path : "" }
    }

    package subscript(_ remark: RowRemark) -> Int { counts[remark.rawValue] }

    /// `data.jsonl:3`, of the first row.
    func place(_ remark: RowRemark) -> String {
        "\(paths[remark.rawValue]):\(lines[remark.rawValue])"
    }

    mutating func add(_ remarks: RowRemarks, line: Int, path: String) {
        guard !remarks.isEmpty else { return }
        for remark in RowRemark.allCases where remarks.contains(remark) {
            if counts[remark.rawValue] == 0 {
                lines[remark.rawValue] = line
                paths[remark.rawValue] = path
            }
            counts[remark.rawValue] += 1
        }
    }

    mutating func add(_ other: RemarkCounts) {
        for index in counts.indices {
            if counts[index] == 0 {
                lines[index] = other.lines[index]
                paths[index] = other.paths[index]
            }
            counts[index] += other.counts[index]
        }
    }
}
