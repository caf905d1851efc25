import SkeinJSON

/// Copies of an interpreter between two statements, and joining two that have become equal.
extension TemplateInterpreter {
    /// Whether what comes next may drop a variant.
    var needsCopy: Bool { (variants?.active.count ?? 0) > 1 }

    /// An interpreter that goes on where this one is and shares nothing that changes.
    ///
    /// - Throws: `SharedTemplateRun.Flaw` if it holds something that cannot be copied.
    func copied() throws -> TemplateInterpreter {
        var copy = self
        var made = Copies()
        for (index, frame) in frames.enumerated() {
            for (name, value) in frame {
                if let other = try Self.copied(value, &made) {
                    copy.frames[index][name] = other
                }
            }
        }
        return copy
    }

    /// What has been copied: two names of one thing are two names of its copy.
    private struct Copies {
        var namespaces: [ObjectIdentifier: TemplateNamespace] = [:]
        var iterators: [ObjectIdentifier: TemplateIterator] = [:]
    }

    /// nil if the value never changes.
    private static func copied(
        _ value: TemplateValue, _ made: inout Copies
    ) throws -> TemplateValue? {
        switch value {
        case .namespace(let namespace):
            let id = ObjectIdentifier(namespace)
            if let copy = made.namespaces[id] { return .namespace(copy) }
            let copy = TemplateNamespace(namespace.attributes)
            for (name, value) in namespace.attributes {
                if let other = try copied(value, &made) { copy.attributes[name] = other }
            }
            made.namespaces[id] = copy
            return .namespace(copy)
        case .iterator(let iterator):
            if let copy = made.iterators[ObjectIdentifier(iterator)] { return .iterator(copy) }
            guard let copy = iterator.copied() else { throw SharedTemplateRun.Flaw.notShared }
            made.iterators[ObjectIdentifier(iterator)] = copy
            return .iterator(copy)
        case .loop: throw SharedTemplateRun.Flaw.notShared
        case .macro(let macro):
            if macro.frames != nil { throw SharedTemplateRun.Flaw.notShared }
            return nil
        default: return nil
        }
    }

    /// This interpreter for the variants that another one has dropped on its way from here; nil if
    /// it has dropped none.
    func standing(forDroppedBy run: inout TemplateInterpreter) -> TemplateInterpreter? {
        guard let dropped = run.variants?.dropped, !dropped.isEmpty else { return nil }
        run.variants?.dropped = []
        var rest = self
        rest.variants?.active = dropped.sorted()[...]
        return rest
    }

    /// One interpreter for the variants of this one and another one that is at the same place.
    ///
    /// - Returns: nil if they differ in more than integers.
    func joined(with other: TemplateInterpreter) -> TemplateInterpreter? {
        guard let first = variants?.active, let second = other.variants?.active,
            frames.count == other.frames.count, depth == other.depth,
            let log, let otherLog = other.log, log.isSame(as: otherLog)
        else { return nil }
        var joint = Joint(first: first, second: second)
        var result = self
        for (index, frame) in frames.enumerated() {
            guard frame.count == other.frames[index].count else { return nil }
            for (name, value) in frame {
                guard let otherValue = other.frames[index][name],
                    let both = joint.value(value, otherValue)
                else { return nil }
                if let both = both.new { result.frames[index][name] = both }
            }
        }
        result.variants?.active = Self.merged(first, second)
        result.charge(asMuchAs: other)
        return result
    }

    private static func merged(_ one: ArraySlice<Int>, _ two: ArraySlice<Int>) -> ArraySlice<Int> {
        guard let first = one.first, let last = one.last, let start = two.first,
            let end = two.last
        else { return one + two }
        if last < start { return one + two }
        if end < first { return two + one }
        return (one + two).sorted()[...]
    }
}

/// Makes values that hold for the variants of two runs.
private struct Joint {
    let first: ArraySlice<Int>
    let second: ArraySlice<Int>
    /// For each namespace of the first run, that of the second one in its place, and the joint one.
    private var namespaces:
        [ObjectIdentifier: (other: TemplateNamespace, joint: TemplateNamespace)] =
            [:]
    private var others: Set<ObjectIdentifier> = []

    init(first: ArraySlice<Int>, second: ArraySlice<Int>) {
        self.first = first
        self.second = second
    }

    /// The value for both runs, `new` if it is not simply the first one's; nil if there is none.
    mutating func value(
        _ one: TemplateValue, _ other: TemplateValue
    ) -> (new: TemplateValue?, Void)? {
        switch (one, other) {
        case (.namespace(let one), .namespace(let other)):
            return namespace(one, other).map { (.namespace($0), ()) }
        default: break
        }
        if one.isIdentical(to: other) { return (nil, ()) }
        guard let left = Self.varying(one), let right = Self.varying(other) else { return nil }
        return (.varying(TemplateVarying.joined(left, of: first, right, of: second)), ())
    }

    private static func varying(_ value: TemplateValue) -> TemplateVarying? {
        switch value {
        case .integer(let number): .constant(number)
        case .varying(let varying): varying.isBool ? nil : varying
        default: nil
        }
    }

    private mutating func namespace(
        _ one: TemplateNamespace, _ other: TemplateNamespace
    ) -> TemplateNamespace? {
        if let known = namespaces[ObjectIdentifier(one)] {
            return known.other === other ? known.joint : nil
        }
        guard others.insert(ObjectIdentifier(other)).inserted,
            one.attributes.count == other.attributes.count
        else { return nil }
        let joint = TemplateNamespace(one.attributes)
        namespaces[ObjectIdentifier(one)] = (other, joint)
        for (name, value) in one.attributes {
            guard let otherValue = other.attributes[name], let both = self.value(value, otherValue)
            else { return nil }
            if let both = both.new { joint.attributes[name] = both }
        }
        return joint
    }
}

extension TemplateText {
    /// Whether two texts are the same, with where they come from.
    fileprivate func isIdentical(to other: TemplateText) -> Bool {
        isMarkup == other.isMarkup && bytes == other.bytes && runs == other.runs
    }
}

extension TemplateValue {
    /// Whether two values are the same for whatever a template may do with them. Long lists are so
    /// only if they are in the same memory.
    fileprivate func isIdentical(to other: TemplateValue) -> Bool {
        switch (self, other) {
        case (.undefined(let one), .undefined(let two)): return one.isSame(as: two)
        case (.none, .none): return true
        case (.bool(let one), .bool(let two)): return one == two
        case (.integer(let one), .integer(let two)): return one == two
        case (.longInteger(let one), .longInteger(let two)): return one.isSame(as: two)
        case (.float(let one), .float(let two)): return one.bitPattern == two.bitPattern
        case (.text(let one), .text(let two)):
            return one.isIdentical(to: two)
        case (.list(let one), .list(let two)), (.tuple(let one), .tuple(let two)):
            return Self.areIdentical(one.items, two.items)
        case (.mapping(let one), .mapping(let two)):
            return one.keys.count == two.keys.count
                && zip(one.keys, two.keys).allSatisfy { $0.isIdentical(to: $1) }
                && Self.areIdentical(one.values, two.values)
        case (.iterator(let one), .iterator(let two)): return one === two && one.isView
        case (.macro(let one), .macro(let two)): return one === two
        case (.function(let one), .function(let two)): return one.isSame(as: two)
        case (.growing(let one), .growing(let two)):
            return one.first == two.first && one.shift == two.shift
                && one.isReversed == two.isReversed && Self.areIdentical(one.items, two.items)
        case (.varying(let one), .varying(let two)):
            return one.isBool == two.isBool && one.runs == two.runs
        default: return false
        }
    }

    /// Items that are compared one by one.
    private static let comparedItems = 16

    private static func areIdentical(_ one: [TemplateValue], _ two: [TemplateValue]) -> Bool {
        guard one.count == two.count else { return false }
        let isOneMemory = one.withUnsafeBufferPointer { first in
            two.withUnsafeBufferPointer { $0.baseAddress == first.baseAddress }
        }
        return isOneMemory
            || one.count <= comparedItems && zip(one, two).allSatisfy { $0.isIdentical(to: $1) }
    }
}
