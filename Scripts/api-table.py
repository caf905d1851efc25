"""Compares symbol graphs of Skein's modules with a reference list and prints docs/API.md: see Scripts/api-table."""

import collections
import glob
import json
import re
import sys

MODULES = ("SkeinSessions", "Skein")
# Types of the module Skein that have the shape of Create ML's; the rest of it has a shape of its own.
TRAINING = ("TrainingSession", "SessionParameters", "TrainingTask", "UpdateTask", "AdapterTrainer", "TrainedAdapter",
            "TrainingPairs", "PromptCompletion", "AccuracyAdvice")
# What a conformance to a protocol of the standard library or Foundation brings.
BROUGHT = re.compile(r"(?:errorDescription|failureReason|recoverySuggestion|description|debugDescription|encode\(to:\)|"
                     r"init\(from:\)|init\(rawValue:\)|rawValue|==\(_:_:\)|startIndex|endIndex|subscript\(_:\)|"
                     r"AsyncIterator\b.*|makeAsyncIterator\(\)|Element|promptRepresentation|instructionsRepresentation|"
                     r"generatedContent|generationSchema|init\(_:\)|id|asPartiallyGenerated\(\))$")
ADDED = {"Since SDK 27": "", "Macros": "", "Conformances of other types": "*"}


class Problem(Exception):
    pass


def outside(text, mark):
    """The text up to the first mark that is in no bracket, and the rest."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0 and sign == mark:
            return text[:place], text[place + 1:]
    return text, None


def normal(text, renamed):
    """A declaration without what callers do not see: names inside of parameters, attributes, paths of types."""
    text = re.sub(r"^@attached.*? (?=macro )|@(?:discardableResult|frozen|resultBuilder|Sendable|escaping)\b", "",
                  text)
    text = re.sub(r"\b(?:final|convenience|mutating|sending|public|nonisolated(?:\(nonsending\))?) ", "", text)
    text = re.sub(r"\bsome Sendable & ", "some ", text.replace("`", "")).replace("AsyncSequence<", "AsyncSequence <")
    text = re.sub(r"\b(?:[A-Z]\w*(?:<[\w, ]*>)?\.)+(?=[A-Z])", "", text)
    for old, new in renamed.items():
        text = re.sub(rf"\b{old}\b", new, text)
    text = re.sub(r"\s*:\s*", ": ", " ".join(text.split()))
    settable = not re.search(r"\{ get(?! set)|\blet ", text)
    text = re.sub(r" ?\{ get(?: set)?(.*?) ?\}", r"\1", text).replace("let ", "var ", 1)
    head = re.match(r"((?:static )?(?:func|init|macro|struct|class|protocol|case)\b\??(?: [\w=]+)?)(?:<([^>]*)>)?(.*)",
                    text)
    if head:
        name, generic, rest = head[1], head[2] or "", head[3]
        rest, _, where = rest.partition(" where ")
        requirements = [item.strip() for item in where.split(",") if item.strip()]
        names = []
        # A protocol's are its associated types, whose names callers see.
        for item in [] if name.startswith("protocol") else generic.split(","):
            variable, _, bound = item.strip().partition(": ")
            if variable:
                names.append(variable)
                requirements += [f"{variable}: {bound}"] if bound else []
        if "(" in rest:
            depth, parts = 0, ""
            for sign in re.split(r"([()])", rest):
                depth += (sign == "(") - (sign == ")")
                parts += sign if depth == 0 or sign in "()" else re.sub(r"(?<![@\w])(\w+) (\w+): ", r"\1: ", sign)
            rest = parts
        text = name + rest + (" where " + ", ".join(sorted(requirements)) if requirements else "")
        for place, variable in enumerate(names):
            text = re.sub(rf"\b{variable}\b", f"T{place}", text)
    return " ".join(text.split()), settable


def key(text):
    """The name with its labels, as a symbol graph has it."""
    found = re.match(r"(?:@\w+ )?(?:indirect )?(static |)(func|init|macro|case|var|struct|class|enum|protocol|type|"
                     r"associatedtype|typealias)\b\??\s?([\w=]*)", text)
    if not found:
        raise Problem(f"no declaration: {text}")
    kind, name = found[2], found[3] or "init"
    rest = text[found.end():]
    if kind in ("func", "init", "macro", "case") and rest.startswith("("):
        inside, depth, last, labels = "", 0, 0, []
        for place, sign in enumerate(rest):
            depth += (sign in "([{") - (sign in ")]}")
            if depth == 0:
                inside = rest[1:place]
                break
        for item in split(inside):
            label = re.match(r"(?:@\w+ )?(\w+):", item.strip())
            labels.append((label[1] if label else "_") + ":")
        if re.fullmatch(r"(?:\w+: ?)+", inside):
            labels = [inside.replace(" ", "")]
        name += "(" + "".join(labels) + ")"
    elif kind in ("func", "init"):
        name += "()"
    return kind, name


def split(text):
    parts, depth, part = [], 0, ""
    for place, sign in enumerate(text):
        depth += (sign in "([<") - (sign in ")]" or sign == ">" and text[place - 1] != "-")
        if sign == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += sign
    return parts + ([part] if part.strip() else [])


class Ours:
    """The public symbols of a folder of symbol graphs."""

    def __init__(self, folder):
        self.symbols = collections.defaultdict(list)
        self.conforms = collections.defaultdict(set)
        paths = {}
        links = []
        for module in MODULES:
            files = sorted(glob.glob(f"{folder}/{module}[.@]*symbols.json"))
            if not files:
                raise Problem(f"no symbols of {module}: build the package first")
            for file in files:
                with open(file, encoding="utf-8") as opened:
                    graph = json.load(opened)
                links += graph["relationships"]
                for symbol in graph["symbols"]:
                    path = ".".join(symbol["pathComponents"])
                    paths[symbol["identifier"]["precise"]] = path
                    state = symbol.get("availability", [])
                    if any(item.get("isUnconditionallyUnavailable") for item in state):
                        continue
                    text = "".join(item["spelling"] for item in symbol["declarationFragments"])
                    self.symbols[path].append({
                        "text": text, "module": module, "foreign": "@" in file.rsplit("/", 1)[1],
                        "deprecated": any(item.get("isUnconditionallyDeprecated") for item in state), "used": False})
        known = {"s:SS": "String", "s:Si": "Int", "s:Sf": "Float", "s:Sd": "Double", "s:Sb": "Bool", "s:Sa": "Array",
                 "s:Sq": "Optional", "s:s5NeverO": "Never", "s:20FoundationEssentials7DecimalV": "Decimal"}
        for link in links:
            if link["kind"] in ("conformsTo", "inheritsFrom"):
                source = paths.get(link["source"]) or known.get(link["source"])
                target = paths.get(link["target"]) or link.get("targetFallback") or ""
                if source:
                    self.conforms[source].add(target.rsplit(".", 1)[-1])
        for name in list(self.conforms):
            if {"Encodable", "Decodable"} <= self.conforms[name]:
                self.conforms[name].add("Codable")


def entries(file):
    """The lines of the reference with those that go on, without comments."""
    with open(file, encoding="utf-8") as opened:
        for number, line in enumerate(opened, 1):
            line = line.rstrip("\n")
            if line and not (line.startswith("#") and not line.startswith("## ")):
                yield number, line


class Row:
    def __init__(self, number, title, since, source, text):
        self.number, self.since, self.source, self.text = number, since, source, text
        # The type that the row's table is about, as Apple calls it.
        self.title = re.split(r"[<.]", title)[0] if "." not in title else title.split(".")[-1]
        self.how, self.other, self.status, self.words, self.deprecated = None, None, None, "", False

    def __str__(self):
        return f"line {self.number}: {self.text}"


def read(file):
    tables, renamed, aliases = [], {}, []
    row = None
    for number, line in entries(file):
        if line.startswith("## "):
            title, _, ours = line[3:].partition(" -> ")
            tables.append((title, ours, []))
        elif line.startswith("= "):
            _, old, new = line.split()
            renamed[old] = new
        elif line.startswith("% "):
            row = None
            aliases.append(line[2:])
        elif line.startswith("    "):
            text = line.strip()
            if row is None:
                aliases[-1] += " " + text
                continue
            how = re.match(r"(differs|missing|note)(?: (\S+))?: (.*)", text)
            if how:
                row.how, row.other, row.words = how[1], how[2], how[3]
            elif row.how:
                row.words += " " + text
            else:
                row.text += " " + text
        else:
            since, source, text = line.split(" ", 2)
            row = Row(number, tables[-1][0], since, source, text)
            tables[-1][2].append(row)
    return tables, renamed, aliases


def judge(row, place, ours, renamed):
    """Sets the row's status, and raises where the list does not say what the symbols show."""
    if place == "*":
        _, name, protocol = row.text.replace(":", "").split()
        held = protocol in ours.conforms[name] or f"{name}.{protocol}" in ours.symbols
        if not held and row.how != "missing":
            raise Problem(f"{row}: {name} is no {protocol}")
        row.status = {"note": "same", None: "same"}.get(row.how, row.how)
        return
    declared, settable = normal(row.text, renamed)
    kind, name = key(declared)
    isType = kind in ("struct", "class", "enum", "protocol", "type")
    path = place if isType and name in (place.split(".")[-1], row.title) else f"{place}.{name}".lstrip(".")
    if row.other:
        path = row.other if row.other in ours.symbols else f"{place}.{row.other}"
    found = ours.symbols.get(path, [])
    if row.how == "missing":
        if found:
            raise Problem(f"{row}: is said to be missing, and {path} is there")
        row.status = "missing"
        return
    if not found:
        raise Problem(f"{row}: {path} is not there, and the list does not say why")
    bare = not re.search(r"[:(]", declared) or re.search(r"\((?:\w+:)+\)$", row.text) or kind == "type"
    fits = []
    for symbol in found:
        text, canSet = normal(symbol["text"], renamed)
        if isType:
            fits.append(symbol)
            wanted = outside(declared, ":")[1]
            wanted = re.findall(r"\w+", (wanted or "").split(" where ")[0])
            lacking = set(wanted) - ours.conforms[path]
            kindDiffers = kind != "type" and not re.search(rf"\b{kind} ", symbol["text"])
            if (lacking or kindDiffers) and row.how != "differs":
                raise Problem(f"{row}: here it is {symbol['text']}, without {lacking}")
        elif row.how == "differs" and (bare or row.other):
            fits.append(symbol)
        elif bare:
            isStatic = bool(re.search(r"\bstatic\b", declared))
            if isStatic == bool(re.search(r"\bstatic\b", symbol["text"])) or kind in ("init", "macro", "case"):
                fits.append(symbol)
        elif text == declared or text.startswith(declared + " ->") or text.startswith(declared + " <"):
            if settable and not canSet and kind == "var":
                continue
            fits.append(symbol)
    if not fits and row.how != "differs":
        raise Problem(f"{row}: differs from " + "; ".join(normal(item["text"], renamed)[0] for item in found)
                      + f"\n  wanted: {declared}")
    for symbol in fits or found:
        symbol["used"] = True
        row.deprecated = row.deprecated or symbol["deprecated"]
    row.status = "differs" if row.how == "differs" else "same"


def cell(text):
    return text.replace("|", "\\|")


def shown(row):
    words = row.words
    if row.deprecated and "deprecated" not in words:
        words = "; ".join(part for part in ("deprecated", words) if part)
    if row.status == "same":
        return "same" + (f"; {words}" if words else "")
    return f"**{row.status}**: {words}"


SINCE = {"guide": "a guide", "create-ml": "Create ML", "core-ml": "Core ML"}


def since(row):
    return SINCE.get(row.since) or (row.since[:-2] + ", not 27" if row.since.endswith("..") else row.since)


def count(rows):
    found = collections.Counter(row.status for row in rows)
    return f"{len(rows)} | {found['same']} | {found['differs']} | {found['missing']}"


def page(tables, aliases, ours):
    rows = [row for _, _, part in tables for row in part]
    in26 = [row for row in rows if row.since in ("26.0", "26.0..", "26.4")]
    in27 = [row for row in rows if row.since in ("26.0", "26.4", "27")]
    older = [row for row in rows if row.since in ("beta", "guide")]
    training = [row for row in rows if row.since in ("create-ml", "core-ml")]
    out = ["""# The API beside Apple's

**No safety classifier is shipped with this library**, and `Guardrails.default` checks nothing
([SESSIONS.md](SESSIONS.md)). This page compares the public symbols of Skein's sessions with those of Apple's Foundation
Models, and its training sessions with Create ML and Core ML. `Scripts/api-table` writes it: it reads our symbols from
the compiler's symbol graph, and Apple's from [foundation-models.txt](api/foundation-models.txt), and stops where the
two disagree and the list does not say how. `Scripts/api-table --check` says whether this page is what it would write.

**What is not known is not here.** The list has what five documents about Foundation Models name (*from* D: of the
June 2025 beta and 26.0, and a third-party guide up to 26.4) and what Apple's published pages and interfaces name
(*from* P). It is not a copy of Apple's interface, and nothing was compared on an Apple system. *Not 27* is what SDK 27
removes or replaces, as far as we know; of the rest we take it that 27 has it. *A guide* is a spelling of that guide
alone.

- *same*: name, labels, types, defaults and effects are what the list has; where it has a name alone, that name (`type`:
  the sources do not say of which kind).
- *differs*: it exists, and the row says what is not as there: another type, or another meaning.
- *missing*: it does not exist here.

| against | symbols | same | differ | missing |
|---|---|---|---|---|"""]
    for name, part in (("26.0 to 26.4", in26), ("27", in27), ("older spellings", older),
                       ("Create ML, Core ML", training)):
        out.append(f"| {name} | {count(part)} |")
    out.append("""
For people with code: [FROM-FOUNDATION-MODELS.md](FROM-FOUNDATION-MODELS.md),
[FROM-ANYLANGUAGEMODEL.md](FROM-ANYLANGUAGEMODEL.md). Ours alone: [Only here](#only-here). Spellings on which the
sources disagree: [Older spellings](#older-spellings).
""")
    isTraining = False
    for title, other, part in tables:
        if part[0].since in ("create-ml", "core-ml") and not isTraining:
            isTraining = True
            out.append("## Training, Create ML and Core ML\n\nThese have other names here, in the module `Skein`. "
                       "[TRAINING-SESSIONS.md](TRAINING-SESSIONS.md) describes them.\n")
        level = "###" if isTraining else "##"
        here = f" is `{other}`" if other and other not in ("AdapterTrainer", "TrainedAdapter") else ""
        here = here or (f": `{other}`" if other else "")
        name = title if " " in title or not isTraining else f"`{title}`"
        out.append(f"{level} {name}{here}\n\n| symbol | since | from | here |\n|---|---|---|---|")
        for row in part:
            text = re.sub(r" \{ get( async throws)? \}", r"\1", row.text).replace("convenience ", "")
            out.append(f"| `{cell(text)}` | {since(row)} | {row.source} | {cell(shown(row))} |")
        out.append("")
    out.append(onlyHere(ours))
    out.append("""
## Older spellings

Where the sources spell one thing in several ways, or say different things. The newer one is the API.

| | older or other | newer | here |
|---|---|---|---|""")
    for line in aliases:
        number, rest = line.split(" ", 1)
        path, old, new, here = (part.strip() for part in rest.split(" | "))
        if path != "-" and path not in ours.symbols:
            raise Problem(f"disagreement {number}: {path} is not there")
        if here.startswith("deprecated") and not any(symbol["deprecated"] for symbol in ours.symbols[path]):
            raise Problem(f"disagreement {number}: {path} is not deprecated")
        out.append(f"| {number} | {old} | {new} | {here} |")
    return "\n".join(out) + "\n"


def onlyHere(ours):
    groups = collections.defaultdict(list)
    for path, found in ours.symbols.items():
        top = path.split(".")[0]
        for symbol in found:
            if symbol["used"] or symbol["foreign"] or symbol["module"] == "Skein" and top not in TRAINING:
                continue
            holder, _, last = path.rpartition(".")
            if BROUGHT.match(last) and holder or ".AsyncIterator." in path:
                continue
            groups[(symbol["module"], top)].append((path, symbol))
    out = ["""## Only here

What Apple's API does not have, as far as the list knows, or has with details that the list does not: initializers of
types whose fields alone it names, for example. Without what conformances to Swift's own protocols bring. The rest of
the module `Skein` (training, clusters) has no counterpart.

| type | symbols |
|---|---|"""]
    for module, top in sorted(groups, key=lambda group: (group[0] == "Skein", group[1])):
        names = []
        for path, symbol in sorted(groups[(module, top)], key=lambda item: item[0]):
            name = path[len(top) + 1:] or re.split(r" ?[:<(]", symbol["text"])[0].removeprefix("final ")
            name = f"`{name}`" + (" (deprecated)" if symbol["deprecated"] else "")
            if name not in names:
                names.append(name)
        out.append(f"| `{top}` | {', '.join(names)} |")
    return "\n".join(out)


def main():
    folder, reference = sys.argv[1:]
    ours = Ours(folder)
    tables, renamed, aliases = read(reference)
    problems = []
    for title, other, part in tables:
        place = ADDED.get(title, other or title)
        for symbol in ours.symbols.get(place, []):
            symbol["used"] = True
        for row in part:
            try:
                judge(row, place, ours, renamed)
            except Problem as problem:
                problems.append(str(problem))
    if problems:
        raise Problem("\n".join(problems))
    sys.stdout.write(page(tables, aliases, ours))


try:
    main()
except Problem as problem:
    sys.exit(f"api-table: {problem}")
