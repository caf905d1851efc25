"""Writes random generable types as Swift; called by Scripts/check-generable.

usage: check-generable.py SEED TYPES FOLDER

Each type comes with a check that compares a value with its guides, in plain Swift, and with a partial value. The
text is a function of the seed and of the number of types.
"""

import collections
import os
import random
import re
import sys

TYPES_PER_FILE = 10
# Definitions that one type leads to: prompts have all of them.
MOST_DEFINITIONS = 10
WORDS = (
    "name title note age size weight price score level colour mood text body part item owner street city zip day month "
    "year start finish rank share count total first second third left right top key place tag reason answer step"
).split()
# As names of properties they stand in backticks; the others are names that expansions use.
KEYWORDS = "`default` `in` `class` `switch` `self` `init` `func` `where` `is`".split()
TAKEN = "content writer value whole type id generationSchema".split()
# The last two are equal to Swift, and two texts to a grammar.
TEXTS = ["", "a", "yes", "no", 'a "quote"', "back\\slash", "line\nbreak", "tab\there", "Grün", "日本", "🦆🦆", "{}"]
TEXTS += ["null", "a longer text with spaces", " ", "/", "ﬁ", "e\u0301", "\u00e9"]
DESCRIPTIONS = ["What it is", "From bad to good", "Short", 'With "quotes"', "A \\ and a line\nbreak", "Größe 🦆", ""]
# Sets of characters, the first of ASCII.
NARROW = r'''[a-z] [A-Z] [a-zA-Z_] [0-9a-f] \d \w [1-9] a b x \. - ok \+ @ " \/ : [aeiou] [\w.-] \\ \( [\]\[]'''.split()
NARROW.append(" ")
WIDE = r'''. . . . [^a-z] [^"\\,] \p{L} \s é [α-ω] \W \D \S [^\d\s] [^\w] 🦆'''.split()
NUMBERS = "Int Double Float Decimal".split()
# Bounds that are hard for some reason.
BOUNDS = {
    "Int": [
        ("Int.min", "-9223372036854775807"), ("9223372036854775806", "Int.max"), ("-1", "1"), ("0", "0"),
        ("Int.min", "Int.max"), ("999999999999999999", "1000000000000000001"), ("-10", "-10"),
    ],
    "Double": [
        ("0.1", "0.3"), ("0.30000000000000004", "0.30000000000000004"), ("-1e-9", "1e-9"), ("1e20", "1e22"),
        ("-2.5e17", "-2.4e17"), ("0.1", "0.1000000000000001"), ("-0.5", "0"), ("-0.0", "0.0"),
        ("Double.leastNonzeroMagnitude", "Double.greatestFiniteMagnitude"),
    ],
    "Float": [
        ("0.1", "0.3"), ("0.1", "0.1"), ("3e38", "3.4e38"), ("16777216", "16777218"), ("-1e-5", "1e-5"), ("-1", "0"),
        ("1e10", "2e15"),
    ],
    "Decimal": [
        (f'Decimal(string: "{low}")!', f'Decimal(string: "{high}")!')
        for low, high in [
            ("0.1", "0.3"), ("0", "1"), ("12345678901234567890.123", "12345678901234567890.124"),
            ("0.00000000000000000001", "0.00000000000000000009"), ("-5.5", "-5"),
        ]
    ],
}


def swift_text(text):
    """A literal; scalars that are not plain ASCII are written as escapes now and then."""
    out = ""
    for character in text:
        if character in "\"\\":
            out += "\\" + character
        elif character == "\n":
            out += "\\n"
        elif character == "\t":
            out += "\\t"
        elif ord(character) > 126 and not character.isalpha() and ord(character) < 0x1F000:
            out += "\\u{%x}" % ord(character)
        else:
            out += character
    return f'"{out}"'


def parenthesized(number):
    """Behind an operator a sign needs parentheses."""
    return f"({number})" if number.startswith("-") else number


def plain(name):
    return name.strip("`")


MUTUAL_ENUM = r"""indirect enum OTHER: Checked {
    case leaf(Int)
    case node(NAME, again: OTHER?)
    case many([NAME])
    static var isExact: Bool { @OTHER@ }
    func check(_ place: String, _ notes: inout Notes) {
        switch self {
        case .leaf: break
        case .node(let node, let again):
            node.check("\(place).node", &notes)
            again?.check("\(place).again", &notes)
        case .many(let many): many.check("\(place).many", &notes)
        }
    }
}"""


class Pattern:
    """A random regular expression, and whether more than ASCII matches it."""

    def __init__(self, draw):
        self.draw = draw
        self.is_wide = False
        self.has_name = False
        self.has_marks = draw.random() < 0.15
        self.source = self.choice(2)
        if draw.random() < 0.15:
            self.source = f"^{self.sequence(2)}$"

    def choice(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.draw.choice([1, 1, 1, 2, 3])))

    def sequence(self, depth):
        return "".join(self.term(depth) for _ in range(self.draw.choice([1, 1, 2, 2, 3])))

    def term(self, depth):
        atom = self.atom(depth)
        return atom + self.draw.choice(["", "", "", "?", "+", "*", "{2}", "{1,3}", "{0,2}", "{2,}", "+?", "*?", "??"])

    def atom(self, depth):
        draw = self.draw
        if depth and draw.random() < 0.3:
            kind = draw.choice(["(", "(?:", "(" if self.has_name else "(?<part>"])
            self.has_name = self.has_name or kind == "(?<part>"
            return kind + self.choice(depth - 1) + ")"
        if draw.random() < 0.2:
            self.is_wide = True
            return draw.choice(WIDE)
        return draw.choice(NARROW)

    def literal(self):
        return f"#/{self.source}/#" if self.has_marks else f"/{self.source}/"

    @property
    def is_written(self):
        """Whether Swift reads it as a literal between slashes, wherever it stands."""
        return not re.match(r"[ )]|.* $", self.source)


class Guide:
    """A guide as it is declared, and its check: an expression in which `¤` is the value."""

    def __init__(self, name, written, check):
        self.name, self.written, self.check = name, written, check


class Property:
    def __init__(self, name, kind, guides=(), optional=False):
        self.name, self.kind, self.guides, self.optional = name, kind, list(guides), optional
        self.word = "var"


class Maker:
    def __init__(self, seed, count):
        self.seed, self.count = seed, count
        self.uses = collections.Counter()
        # By name of a type: the names of those that it leads to at once, and whether a Float is in it.
        self.leads, self.floats = collections.defaultdict(set), {}

    # Guides.

    def number(self, kind, low, high):
        draw = self.draw
        if kind == "Int":
            return str(draw.randint(low, high))
        if kind == "Decimal" and draw.random() < 0.5:
            return f'Decimal(string: "{draw.randint(low, high)}.{draw.randint(0, 10**draw.randint(1, 12))}")!'
        if kind == "Decimal":
            return f"Decimal({draw.randint(low, high)})"
        if draw.random() < 0.3:
            return f"{draw.randint(low, high)}"
        return f"{draw.randint(low, high)}.{draw.randint(0, 999):03}"

    def bounds(self, kind):
        """Two numbers as Swift writes them, the lower one first."""
        draw = self.draw
        if draw.random() < 0.4:
            return draw.choice(BOUNDS[kind])
        low = draw.choice([-1000, -20, -1, 0, 1, 5, 100, 123456])
        width = draw.choice([0, 1, 2, 9, 50, 10**6])
        return self.number(kind, low, low), self.number(kind, low + width + 1, low + width + 1)

    def number_guides(self, kind):
        draw = self.draw
        low, high = self.bounds(kind)
        lowest = Guide(f"minimum {kind}", f".minimum({low})", f"¤ >= {low}")
        highest = Guide(f"maximum {kind}", f".maximum({high})", f"¤ <= {high}")
        both = Guide(f"range {kind}", f".range({low}...{parenthesized(high)})", f"¤ >= {low} && ¤ <= {high}")
        return draw.choice(
            [[lowest], [highest], [both], [both], [lowest, highest], [highest, both], [both, lowest, highest]])

    def pattern(self):
        while True:
            pattern = Pattern(self.draw)
            # Longer ones need too many states, mostly.
            if pattern.is_written and len(pattern.source) <= 32:
                return pattern

    def pattern_guide(self, pattern, written=None):
        # docs/GENERABLE.md says that this is what a pattern means; of ASCII it is the same without.
        meaning = ""
        if pattern.is_wide:
            meaning = ".asciiOnlyDigits().asciiOnlyWordCharacters().matchingSemantics(.unicodeScalar)"
        check = f"¤.wholeMatch(of: {pattern.literal()}{meaning}) != nil"
        return Guide("pattern", written or f".pattern({pattern.literal()})", check)

    def text_guides(self, owner):
        draw = self.draw
        kind = draw.choice(["constant"] * 2 + ["anyOf", "listed", "two"] + ["pattern"] * 4)
        if kind == "constant":
            text = draw.choice(TEXTS)
            return [self.same_text("constant", f".constant({swift_text(text)})", [text])]
        if kind in ("anyOf", "listed"):
            texts = draw.sample(TEXTS[:-2], draw.randint(1, 6))
            literals = ", ".join(map(swift_text, texts))
            written = f".anyOf([{literals}])"
            if kind == "listed" and owner is not None:
                # A list that is a value, known when the program runs.
                name = f"choices{len(owner)}"
                owner.append(f"static let {name} = [{literals}]")
                written = f".anyOf({self.path}.{name})"
            return [self.same_text("anyOf", written, texts)]
        if kind == "two":
            made = draw.choice(["texts", "patterns", "mixed"])
            if made == "texts":
                texts = draw.sample(TEXTS[:-2], 6)
                one = self.same_text("anyOf", f".anyOf([{', '.join(map(swift_text, texts[:4]))}])", texts[:4])
                other = self.same_text("anyOf", f".anyOf([{', '.join(map(swift_text, texts[2:]))}])", texts[2:])
                return [one, other]
            first, second = ("[a-z]+", "\\w{2,5}") if made == "patterns" else ("[a-z]+", None)
            one, other = Pattern(draw), Pattern(draw)
            one.source, one.is_wide = first, False
            if second:
                other.source, other.is_wide = second, False
                return [self.pattern_guide(one), self.pattern_guide(other)]
            texts = ["abc", "ABC", "x"]
            return [self.pattern_guide(one), self.same_text("anyOf", '.anyOf(["abc", "ABC", "x"])', texts)]
        return [self.pattern_guide(self.pattern())]

    def same_text(self, name, written, texts):
        """Swift calls texts of the same characters equal: here their scalars are."""
        literals = ", ".join(map(swift_text, texts))
        return Guide(name, written, f"[{literals}].contains {{ Array($0.unicodeScalars) == Array(¤.unicodeScalars) }}")

    def count_guides(self, most):
        draw = self.draw
        low = draw.randint(0, 2)
        high = low + draw.randint(0, most)
        lowest = Guide("minimumCount", f".minimumCount({low})", f"¤.count >= {low}")
        highest = Guide("maximumCount", f".maximumCount({high})", f"¤.count <= {high}")
        exact = Guide("count", f".count({low})", f"¤.count == {low}")
        between = Guide("count of a range", f".count({low}...{high})", f"¤.count >= {low} && ¤.count <= {high}")
        return draw.choice([[lowest], [highest], [exact], [between], [lowest, highest], [between, lowest]])

    def guides(self, kind, owner, depth=0):
        draw = self.draw
        if kind in NUMBERS:
            return self.number_guides(kind)
        if kind == "String":
            return self.text_guides(owner)
        if kind.startswith("["):
            inner = kind[1:-1]
            found = [] if draw.random() < 0.3 else self.count_guides(1 if depth else 3)
            if (not found or draw.random() < 0.75) and (inner in NUMBERS or inner == "String" or inner.startswith("[")):
                for guide in self.guides(inner, owner, depth + 1):
                    check = guide.check.replace("¤", "each")
                    check = f"¤.allSatisfy {{ (each: {inner}) in {check} }}"
                    found.append(Guide(f"element({guide.name})", f".element({guide.written})", check))
            return found
        return []

    # Types.

    def kind(self, depth=0):
        """The type of a property, without nil."""
        draw = self.draw
        roll = draw.random()
        if roll < 0.55:
            return draw.choice(["String", "String", "String", "Int", "Int", "Double", "Float", "Decimal", "Bool"])
        if roll < 0.8 and depth < 2:
            return f"[{self.kind(depth + 1)}]"
        if roll < 0.82:
            return "GeneratedContent"
        known = [name for name in self.known if self.size(name) + self.size(self.path) < MOST_DEFINITIONS]
        if known:
            return draw.choice(known)
        return draw.choice(["String", "Int"])

    def size(self, name):
        """How many types it leads to, itself included."""
        seen, open_ = set(), [name]
        while open_:
            at = open_.pop()
            if at not in seen:
                seen.add(at)
                open_ += self.leads[at]
        return len(seen)

    def lead(self, kind):
        name = kind.strip("[]")
        if name == "Float":
            self.floats[self.path] = True
        elif name not in ("String", "Int", "Double", "Decimal", "Bool", "GeneratedContent"):
            self.leads[self.path].add(name)

    def has_float(self, name):
        seen, open_ = set(), [name]
        while open_:
            at = open_.pop()
            if self.floats.get(at):
                return True
            if at not in seen:
                seen.add(at)
                open_ += self.leads[at]
        return False

    def names(self, count, is_case=False):
        draw = self.draw
        names = draw.sample(WORDS, count)
        for place in range(count):
            roll = draw.random()
            if roll < 0.05:
                names[place] = draw.choice(KEYWORDS)
            elif roll < 0.1:
                names[place] = draw.choice(TAKEN[:-1] if is_case else TAKEN)
        return list(dict.fromkeys(names))

    def description(self):
        return swift_text(self.draw.choice(DESCRIPTIONS))

    def attribute(self):
        draw = self.draw
        arguments = []
        if draw.random() < 0.3:
            arguments.append(f"description: {self.description()}")
        if draw.random() < 0.15:
            arguments.append("representNilExplicitlyInGeneratedContent: true")
        return f"@Generable({', '.join(arguments)})" if arguments else "@Generable"

    def guide_attribute(self, property):
        draw = self.draw
        arguments = []
        if draw.random() < 0.4:
            arguments.append(f"description: {self.description()}")
        written = [guide.written for guide in property.guides]
        if len(property.guides) == 1 and property.guides[0].name == "pattern" and draw.random() < 0.5:
            written = [written[0].removeprefix(".pattern(").removesuffix(")")]
        arguments += written
        for guide in property.guides:
            self.uses[guide.name] += 1
        return f"@Guide({', '.join(arguments)}) " if arguments else ""

    def properties(self, count, statics):
        draw = self.draw
        made = []
        for name in self.names(count):
            kind = self.kind()
            guided = draw.random() < 0.85
            made.append(Property(name, kind, self.guides(kind, statics) if guided else (), draw.random() < 0.3))
            self.lead(kind)
        return made

    def struct(self, name, depth=0):
        """Lines of a struct, and its extensions."""
        draw = self.draw
        outer, self.path = self.path, f"{self.path}.{name}" if self.path else name
        self.floats.setdefault(self.path, False)
        known, statics, inside, extensions = list(self.known), [], [], []
        if depth == 0:
            # Types of one name stand in several others.
            for inner in draw.sample(["Part", "Kind", "Extra"], draw.choice([0, 0, 1, 2])):
                lines, more = (self.plain_enum if inner == "Kind" else self.struct)(inner, depth + 1)
                inside += lines
                extensions += more
                self.known.append(f"{self.path}.{inner}")
        made = self.properties(draw.choice([1, 2, 3, 3, 4, 5, 6]) if depth == 0 else draw.randint(1, 3), statics)
        if depth == 0 and draw.random() < 0.25:
            made.append(self.recursive(draw.choice(["children", "others"])))
        self.known = known
        lines = [self.attribute(), f"struct {name}: Checked {{"]
        lines += ["    " + line for line in statics + inside]
        for property in made:
            word = property.word = draw.choice(["var"] * 6 + ["let", "private var", "fileprivate var"])
            default = ""
            if not property.guides and word == "var" and draw.random() < 0.15:
                values = {"Int": " = 3", "String": ' = "x"', "Bool": " = true", "Double": " = 1.5"}
                default = values.get(property.kind, "")
            lines.append(self.declared(property) + default)
        if draw.random() < 0.3:
            lines += ["    static let shared = 1", "    var computed: Int { 2 }", "    let fixed = 4"]
        lines += self.methods(made, "    ") + ["}"]
        self.path = outer
        return lines, extensions

    def recursive(self, name):
        own = self.path.split(".")[-1]
        kind, optional = self.draw.choice(
            [(f"[{own}]", False), (f"[{own}]", True), (f"[[{own}]]", False), ("[Self]", False)])
        guides = []
        if self.draw.random() < 0.6:
            high = self.draw.randint(0, 2)
            guides = [self.draw.choice([
                Guide("maximumCount", f".maximumCount({high})", f"¤.count <= {high}"),
                Guide("count of a range", f".count(0...{high})", f"¤.count >= 0 && ¤.count <= {high}")])]
        return Property(name, kind, guides, optional)

    def methods(self, made, indent):
        lines = [f"static var isExact: Bool {{ @{self.path}@ }}", "func check(_ place: String, _ notes: inout Notes) {"]
        for number, property in enumerate(made):
            each = f"each{number}"
            lines.append(f"    if let {each} = self.{property.name} as {property.kind}? {{")
            lines += ["        " + line for line in self.checks(property, each, f"\\(place).{plain(property.name)}")]
            lines.append("    }")
        lines.append("}")
        lines.append("func isSame(as partial: PartiallyGenerated) -> Bool {")
        # What is private in a type is private in its partial type.
        for property in (property for property in made if not property.word.startswith("private")):
            name = property.name
            lines.append(f"    guard Random.isSame(self.{name}, partial.{name}) else {{ return false }}")
        lines += ["    return true", "}"]
        return [indent + line for line in lines]

    def checks(self, property, each, place):
        lines = [f'{each}.check("{place}", &notes)']
        for guide in property.guides:
            check = guide.check.replace("¤", each)
            lines.append(f'notes.holds("{guide.name}", {check}, "{place}", {each})')
        return lines

    def plain_enum(self, name, depth=0):
        draw = self.draw
        path = f"{self.path}.{name}" if self.path else name
        self.floats.setdefault(path, False)
        cases = list(dict.fromkeys(self.names(draw.randint(1, 6), is_case=True)))
        kind = draw.choice(["plain", "text", "number"])
        lines = [self.attribute().replace("(representNilExplicitlyInGeneratedContent: true)", "")]
        lines.append(f"enum {name}{dict(plain='', text=': String', number=': Int')[kind]} {{")
        for case in cases:
            raw = ""
            if kind == "text" and draw.random() < 0.6:
                raw = f" = {swift_text(plain(case) + draw.choice(['', ' ', '!', ' é', chr(34), '1']))}"
            lines.append(f"    case {case}{raw}")
        lines.append("}")
        return lines, [f"extension {path}: Checked {{}}"]

    def valued_enum(self, name):
        """An enum whose cases have values; its first case ends a recursion."""
        draw = self.draw
        outer, self.path = self.path, name
        self.floats.setdefault(self.path, False)
        is_recursive = draw.random() < 0.5
        lines = [self.attribute(), f"{'indirect ' if is_recursive else ''}enum {name}: Checked {{"]
        checks = []
        for place, case in enumerate(self.names(draw.randint(2, 5), is_case=True)):
            values = []
            for number in range(draw.choice([0, 1, 1, 2, 3]) if place else draw.choice([0, 1])):
                kind = self.kind()
                self.lead(kind)
                if is_recursive and place and draw.random() < 0.4:
                    kind = draw.choice([name, f"[{name}]", "Self"])
                label = draw.choice(["", WORDS[number], WORDS[number + 8]])
                values.append((label, kind, draw.random() < 0.25))
            written = ", ".join(
                f"{label + ': ' if label else ''}{kind}{'?' if optional else ''}"
                + (" = nil" if optional and draw.random() < 0.3 else "") for label, kind, optional in values)
            lines.append(f"    case {case}{'(' + written + ')' if values else ''}")
            if values:
                bound = ", ".join(f"let value{number}" for number in range(len(values)))
                checks.append(f"        case .{case}({bound}):")
                for number, (label, kind, optional) in enumerate(values):
                    mark = "?" if optional else ""
                    checks.append(f'            value{number}{mark}.check("\\(place).{plain(case)}.{number}", &notes)')
            else:
                checks.append(f"        case .{case}: break")
        lines += [f"    static var isExact: Bool {{ @{name}@ }}"]
        lines += ["    func check(_ place: String, _ notes: inout Notes) {", "        switch self {"]
        lines += checks + ["        }", "    }", "}"]
        self.path = outer
        return lines, []

    def declared(self, property):
        mark = "?" if property.optional else ""
        return f"    {self.guide_attribute(property)}{property.word} {property.name}: {property.kind}{mark}"

    def mutual(self, name):
        """A struct and an enum, or two structs, that lead to each other; the second is no type of the list."""
        draw = self.draw
        other = f"{name}Other"
        outer = self.path
        if draw.random() < 0.5:
            text = [self.attribute()] + MUTUAL_ENUM.replace("OTHER", other).replace("NAME", name).splitlines()
        else:
            self.path = other
            guide = Guide("maximumCount", ".maximumCount(2)", "¤.count <= 2")
            made = [Property("back", f"[{name}]", [guide], draw.random() < 0.5)]
            made += self.properties(draw.randint(1, 2), None)
            text = [self.attribute(), f"struct {other}: Checked {{"]
            text += map(self.declared, made)
            text += self.methods(made, "    ") + ["}"]
        self.floats.setdefault(other, False)
        self.leads[other].add(name)
        self.path = name
        self.floats.setdefault(name, False)
        made = self.properties(draw.randint(1, 3), None)
        guide = Guide("count of a range", ".count(0...2)", "¤.count <= 2")
        is_enum = "enum" in text[1]
        made.append(Property("mutual", other, (), True) if is_enum else Property("mutual", f"[{other}]", [guide]))
        self.leads[name].add(other)
        lines = text + [self.attribute(), f"struct {name}: Checked {{"]
        lines += map(self.declared, made)
        lines += self.methods(made, "    ") + ["}"]
        self.path = outer
        return lines, []

    def make(self, folder):
        self.path, self.known, names = "", [], []
        files = collections.defaultdict(list)
        for number in range(self.count):
            # Each type is drawn by itself: one more changes no other.
            self.draw = random.Random(f"{self.seed} type {number}")
            name = f"Type{number}"
            make = self.draw.choice(
                [self.struct] * 6 + [self.valued_enum] * 3 + [self.mutual] * 2 + [self.plain_enum])
            lines, extensions = make(name)
            names.append(name)
            # Later types may hold it.
            self.known = (self.known + [name])[-8:]
            files[number // TYPES_PER_FILE] += lines + extensions + [""]
        for number, lines in files.items():
            text = "import Foundation\nimport SkeinSessions\n\n" + "\n".join(lines)
            text = re.sub("@([\\w.]+)@", lambda found: "false" if self.has_float(found[1]) else "true", text)
            with open(os.path.join(folder, f"Types{number}.swift"), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(folder, "List.swift"), "w", encoding="utf-8") as file:
            file.write("let generatedTypes: [any Checked.Type] = [\n")
            file.writelines(f"    {name}.self,\n" for name in names)
            file.write("]\n\nlet generatedGuides: [String: Int] = [\n")
            file.writelines(f'    "{name}": {count},\n' for name, count in sorted(self.uses.items()))
            file.write("]\n")


def main():
    seed, count, folder = sys.argv[1:]
    Maker(int(seed), int(count)).make(folder)


main()
