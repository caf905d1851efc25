/// The blocks of a `PrefixCache` in the order of their last use.
///
/// A block is of use only with all blocks before it, so a use of a block is one of those too, and
/// they count as used after it: the oldest one has no successor. The order is a list whose links
/// lie in the blocks; finding, adding and evicting take the same time whatever their number.
struct PrefixTable {
    struct Block {
        let name: PrefixName
        let tokens: [Int32]
        let bytes: [UInt8]
        /// The block before it in its rows; nil: it is their first.
        let parent: Int?
        fileprivate(set) var older: Int?
        fileprivate(set) var younger: Int?
    }

    private var places: [PrefixName: Int] = [:]
    /// nil: a place that is free.
    private var blocks: [Block?] = []
    private var free: [Int] = []
    private(set) var oldest: Int?
    private var youngest: Int?

    var count: Int { places.count }

    /// Where a block is; nil: it is not here.
    func place(of name: PrefixName) -> Int? { places[name] }

    func block(_ name: PrefixName) -> Block? { places[name].flatMap { blocks[$0] } }

    /// A block and all before it were used.
    mutating func use(_ place: Int) {
        var next: Int? = place
        while let place = next {
            unlink(place)
            link(place)
            next = blocks[place]?.parent
        }
    }

    /// Adds a block that is not here, and uses it. `parent` is.
    mutating func add(
        _ name: PrefixName, after parent: Int?, tokens: [Int32], bytes: [UInt8]
    ) {
        let place = free.popLast() ?? blocks.count
        if place == blocks.count { blocks.append(nil) }
        blocks[place] = Block(name: name, tokens: tokens, bytes: bytes, parent: parent)
        places[name] = place
        link(place)
        if let parent { use(parent) }
    }

    /// Takes away the block that was not used for longest; nil if there is none.
    mutating func removeOldest() -> Block? {
        guard let place = oldest, let block = blocks[place] else { return nil }
        unlink(place)
        blocks[place] = nil
        places[block.name] = nil
        free.append(place)
        return block
    }

    private mutating func unlink(_ place: Int) {
        guard let (older, younger) = blocks[place].map({ ($0.older, $0.younger) }) else { return }
        if let older { blocks[older]?.younger = younger } else { oldest = younger }
        if let younger { blocks[younger]?.older = older } else { youngest = older }
    }

    /// Puts a block that is in no list behind the youngest.
    private mutating func link(_ place: Int) {
        blocks[place]?.older = youngest
        blocks[place]?.younger = nil
        if let youngest { blocks[youngest]?.younger = place } else { oldest = place }
        youngest = place
    }
}
