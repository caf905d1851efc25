/// A rendered conversation among others that begin as it does: what they have in common is stored
/// once, and looked at once.
package struct ChatRendering {
    private typealias Piece = (part: TemplateLog.Part, range: Range<Int>)

    private let log: TemplateLog
    private let pieces: [Piece]
    /// Bytes of the text.
    package let count: Int

    init(_ log: TemplateLog) {
        self.log = log
        pieces = log.pieces
        count = log.byteCount
    }

    /// A text that shares nothing.
    package init(_ chat: RenderedChat) {
        var log = TemplateLog()
        log.append(TemplateText(chat))
        self.init(log)
    }

    /// The whole text, in UTF-8.
    package var bytes: [UInt8] { bytes(from: 0) }

    /// The text in pieces, as one rendering alone gives it.
    package var chat: RenderedChat { RenderedChat(log.whole) }

    func bytes(from place: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count - min(place, count))
        for piece in pieces where piece.range.upperBound > place {
            let (start, end) = (max(place, piece.range.lowerBound), piece.range.upperBound)
            result += piece.part.text.bytes[(start - piece.part.start)..<(end - piece.part.start)]
        }
        return result
    }

    /// Whether this text and another one have the same first bytes, so many of them.
    func agrees(with other: ChatRendering, upTo end: Int) -> Bool {
        guard count >= end, other.count >= end else { return false }
        var (own, others, place) = (0, 0, 0)
        while place < end {
            let (one, two) = (pieces[own], other.pieces[others])
            let next = min(end, one.range.upperBound, two.range.upperBound)
            if one.part !== two.part {
                let first = one.part.text.bytes[
                    (place - one.part.start)..<(next - one.part.start)]
                let second = two.part.text.bytes[
                    (place - two.part.start)..<(next - two.part.start)]
                guard first.elementsEqual(second) else { return false }
            }
            place = next
            if next == one.range.upperBound { own += 1 }
            if next == two.range.upperBound { others += 1 }
        }
        return true
    }

    /// From the first byte that is from a message to the last one; nil if there is none.
    func extent(of message: Int) -> Range<Int>? {
        var extent: Range<Int>?
        for piece in pieces {
            let (text, start) = (piece.part.text, piece.part.start)
            func end(of run: Int) -> Int { start + text.runs[run].end }
            func beginning(of run: Int) -> Int { run == 0 ? start : end(of: run - 1) }
            guard let places = piece.part.places[message],
                let first = places.first(where: { end(of: $0) > piece.range.lowerBound }),
                let last = places.last(where: { beginning(of: $0) < piece.range.upperBound }),
                first <= last
            else { continue }
            let lower = max(beginning(of: first), piece.range.lowerBound)
            let upper = min(end(of: last), piece.range.upperBound)
            extent = (extent?.lowerBound ?? lower)..<upper
        }
        return extent
    }

    /// The bytes that `{% generation %}` blocks wrote, neither empty nor adjacent: those that end at
    /// `place` or after it, and the last ones in any case.
    func generated(from place: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for piece in pieces.reversed() {
            for range in piece.part.generated(before: piece.range.upperBound).reversed() {
                let upper = min(range.upperBound, piece.range.upperBound)
                if let later = found.last, later.lowerBound == upper {
                    found[found.count - 1] = range.lowerBound..<later.upperBound
                } else if upper >= place || found.isEmpty {
                    found.append(range.lowerBound..<upper)
                } else {
                    return found.reversed()
                }
            }
        }
        return found.reversed()
    }

    /// Whether such a block wrote anything.
    var isGenerated: Bool {
        pieces.contains { !$0.part.generated(before: $0.range.upperBound).isEmpty }
    }
}

extension TemplateText {
    /// The text of a rendered conversation.
    fileprivate init(_ chat: RenderedChat) {
        self.init()
        var (place, generated) = (0, chat.generated[...])
        for piece in chat.pieces {
            let bytes = Array(piece.text.utf8)
            var start = 0
            while start < bytes.count {
                while let first = generated.first, first.upperBound <= place {
                    generated.removeFirst()
                }
                var end = bytes.count
                var isGenerated = false
                if let next = generated.first {
                    isGenerated = next.lowerBound <= place
                    let border = isGenerated ? next.upperBound : next.lowerBound
                    end = min(end, start + border - place)
                }
                let text = TemplateText(
                    bytes: Array(bytes[start..<end]), origin: piece.messageIndex)
                append(isGenerated ? text.generated() : text)
                place += end - start
                start = end
            }
        }
    }
}
