/// Where subnetworks return to, and what is left to be counted before they may.
extension GrammarAutomaton {
    /// The frame that returns to some places; nil if there is no room for it.
    func frame(of returns: [Return]) -> Int32? {
        var sorted = returns
        if sorted.count > 1 { sorted = Self.merged(returns) }
        if let number = frameNumbers[sorted] { return number }
        guard frames.count < GrammarLimits.states else { return nil }
        let number = Int32(frames.count)
        frames.append(sorted)
        frameNumbers[sorted] = number
        let needs = sorted.map {
            min(ByteNetwork.never, need(of: network.places[Int($0.node)], $0.frame))
        }
        returnNeeds.append(needs)
        frameNeeds.append(needs.min() ?? ByteNetwork.never)
        return number
    }

    /// The returns of a frame in their order, each once. Numbers of ticks that overlap or touch are
    /// one range at each place.
    private static func merged(_ returns: [Return]) -> [Return] {
        let sorted = returns.sorted {
            ($0.node, $0.frame, $0.range.least, $0.range.most)
                < ($1.node, $1.frame, $1.range.least, $1.range.most)
        }
        var merged: [Return] = []
        for back in sorted {
            if let last = merged.last, last.node == back.node, last.frame == back.frame,
                last.range.most == .max || back.range.least <= last.range.most + 1
            {
                merged[merged.count - 1].range.most = max(last.range.most, back.range.most)
            } else {
                merged.append(back)
            }
        }
        return merged
    }

    /// The frame after a tick; -1: there may not be one; nil: there is no room for it.
    func frame(afterTick frame: Int32) -> Int32? {
        if let known = ticked[frame] { return known }
        let returns = frames[Int(frame)].compactMap { back in
            back.range.afterTick.map { Return(node: back.node, frame: back.frame, range: $0) }
        }
        var next: Int32 = -1
        if !returns.isEmpty {
            guard let found = self.frame(of: returns) else { return nil }
            next = found
        }
        ticked[frame] = next
        return next
    }

    /// The frame where numbers that cannot be reached within some bytes count as no limit; nil if there
    /// is no room for it.
    ///
    /// A tick takes a byte at least, and then some more ticks may be needed to the end. What the least
    /// value takes does not depend on the most that there may be.
    func endlessFrame(_ frame: Int32, within bytes: Int) -> Int32? {
        // Those to which it returns come first. There may be as many as the answer is long, so that
        // they are listed here and not on the stack.
        var waiting = [frame]
        while let here = waiting.last {
            if here == 0 || endless[here] != nil {
                waiting.removeLast()
                continue
            }
            var returns = frames[Int(here)]
            guard demand.lasts(for: 10 + returns.count) else { return nil }
            let known = waiting.count
            for (index, back) in returns.enumerated() {
                guard let outer = back.frame == 0 ? 0 : endless[back.frame] else {
                    if waiting.last != back.frame { waiting.append(back.frame) }
                    continue
                }
                returns[index].frame = outer
                if Int(back.range.most) > bytes + network.mostTicks {
                    returns[index].range.most = .max
                }
            }
            if waiting.count > known { continue }
            guard let found = self.frame(of: returns) else { return nil }
            endless[here] = found
            waiting.removeLast()
        }
        return frame == 0 ? 0 : endless[frame]
    }

    /// How many frames may be made before those that pass are forgotten once more: as many as are open,
    /// so that each frame pays for making one anew, but not more than half of those for which there is
    /// room. Near the end of the room it is a small number, so that what fits is not refused.
    func roomBeforeCleaning(from first: Int) -> Int {
        let open = max(frames.count - first, GrammarLimits.passingFrames)
        let room = (GrammarLimits.states - frames.count) / 2
        return min(open, max(room, GrammarLimits.passingFrames / 16))
    }

    /// Forgets the frames from a number on that some configurations do not return to, directly or not.
    /// No state has them, as none was made since.
    ///
    /// - Returns: the configurations with their frames' new numbers; nil if there is no room.
    func withoutPassingFrames(_ configurations: [UInt64], from first: Int) -> [UInt64]? {
        guard demand.lasts(for: 20 * (frames.count - first)) else { return nil }
        let passing = Array(frames[first...])
        for returns in passing { frameNumbers[returns] = nil }
        frames.removeSubrange(first...)
        frameNeeds.removeSubrange(first...)
        returnNeeds.removeSubrange(first...)
        ticked = ticked.filter { Int($0.key) < first && Int($0.value) < first }
        endless = endless.filter { Int($0.key) < first && Int($0.value) < first }
        var isOpen = [Bool](repeating: false, count: passing.count)
        func open(_ frame: Int32) {
            if Int(frame) >= first { isOpen[Int(frame) - first] = true }
        }
        for configuration in configurations { open(Self.frame(of: configuration)) }
        // Frames return to frames of lower numbers.
        for index in passing.indices.reversed() where isOpen[index] {
            for back in passing[index] { open(back.frame) }
        }
        var numbers = [Int32](repeating: -1, count: passing.count)
        func moved(_ frame: Int32) -> Int32 {
            Int(frame) < first ? frame : numbers[Int(frame) - first]
        }
        for index in passing.indices where isOpen[index] {
            var returns = passing[index]
            for place in returns.indices { returns[place].frame = moved(returns[place].frame) }
            guard let number = self.frame(of: returns) else { return nil }
            renumbered += 1
            numbers[index] = number
        }
        let kept = configurations.map {
            Self.key(Node($0 >> 32), moved(Self.frame(of: $0)))
        }
        return kept.sorted()
    }

    private static func frame(of configuration: UInt64) -> Int32 {
        Int32(truncatingIfNeeded: configuration & 0xffff_ffff)
    }

    /// Whether the end of a subnetwork can be reached with the ticks that are left.
    func allows(_ tick: TickPlace, _ frame: Int32) -> Bool {
        frames[Int(frame)].contains { tick.allows($0.range) }
    }

    /// The same from a node to which a configuration leads without leaving its subnetwork.
    func isOpen(_ node: Node, _ configuration: UInt64) -> Bool {
        let tick = network.places[Int(node)].tick
        return tick < 0
            || allows(
                network.ticks[Int(tick)], Int32(truncatingIfNeeded: configuration & 0xffff_ffff))
    }

    /// The least bytes from a place to the end of everything.
    func need(of place: ByteNetwork.Place, _ frame: Int32) -> Int32 {
        guard place.tick >= 0 else { return place.need + frameNeeds[Int(frame)] }
        let tick = network.ticks[Int(place.tick)]
        var least = ByteNetwork.never
        for (back, rest) in zip(frames[Int(frame)], returnNeeds[Int(frame)]) {
            least = min(least, tick.need(place.need, back.range) + rest)
        }
        return least
    }

    /// How many characters may follow in the body of a string, and the most bytes that the least value
    /// takes by one of the ways on: where it returns to several places, some drop out.
    func body(
        of place: ByteNetwork.Place, _ frame: Int32, _ need: Int32
    ) -> (characters: Int32, need: Int32) {
        guard place.tick >= 0 else { return (place.body, need) }
        let tick = network.ticks[Int(place.tick)]
        var most: Int32 = 0
        var bytes: Int32 = 0
        for (back, rest) in zip(frames[Int(frame)], returnNeeds[Int(frame)])
        where tick.allows(back.range) {
            most = max(most, back.range.most)
            bytes = max(bytes, tick.need(place.need, back.range) + rest)
        }
        return (most, bytes)
    }
}
