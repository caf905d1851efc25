"""Random JSON Schemas of the supported keywords, and random regular expressions with a way to draw texts that match."""

import string

NAMES = [
    "a", "b", "id", "name", "kind", "size", "next", "tags", "a b", "é", 'q"uote', "back\\slash", "x/y~z",
    "\U0001f600", "日本", "tab\there", "", "long_property_name", "items", "type", "A", "$ref-like", "0"]
TEXTS = [
    "", "a", "red", "green", "greenish", 'a"b', "c\\d", "line\nbreak", "é", "日本語", "\U0001f600\U0001f9d1", "/",
    "null", "1", "-0", " ", "x, y: z", "\u2028", "\u007f", "\b", "}{][", "kind"]
FORMATS = ["date", "time", "date-time", "uuid", "email", "ipv4"]
# Texts that match a pattern, by the pattern: what makes a random value does not parse it.
PATTERNS = {}


def letters(draw):
    return draw.choice(string.ascii_lowercase)


SETS = [
    ("[a-z]", lambda r: r.choice(string.ascii_lowercase)),
    ("[A-Z0-9_]", lambda r: r.choice(string.ascii_uppercase + "09_")), (r"\d", lambda r: r.choice(string.digits)),
    (r"\w", lambda r: r.choice(string.ascii_letters + "_7")), (r"[^\"\\]", lambda r: r.choice("aé \U0001f600/{},日")),
    ('["\\\\/]', lambda r: r.choice('"\\/')), (".", lambda r: r.choice('x"\\é\U0001f600\t ')),
    (r"\s", lambda r: r.choice(" \t\n")), (r"\S", lambda r: r.choice('ab"\\é1')),
    ("[À-ÿ]", lambda r: r.choice("éüß")), (r"\D", lambda r: r.choice('ab"é ')),
    (r"[^a-y]", lambda r: r.choice('zAé"0')), (r"[\t\n\u00e9x-z]", lambda r: r.choice("\t\néxyz")),
    ("[一-龥]", lambda r: r.choice("日本中")), ("[-+*]", lambda r: r.choice("-+*")),
    (r"[\w.-]", lambda r: r.choice("a.-_"))]
PLAIN = 'abcxyz019-_ :,{é"\U0001f600'


def escape(character):
    return "\\" + character if character in "\\^$.|?*+()[]{}/" else character


def part(draw, depth):
    """(expression, sampler)"""
    kind = draw.randrange(10)
    if depth <= 0 or kind < 3:
        if draw.random() < 0.5:
            return draw.choice(SETS)
        word = "".join(draw.choice(PLAIN) for _ in range(draw.randint(1, 3)))
        return "".join(map(escape, word)), lambda r, word=word: word
    if kind < 6:
        parts = [part(draw, depth - 1) for _ in range(draw.randint(2, 3))]
        return "".join(text for text, _ in parts), lambda r: "".join(sample(r) for _, sample in parts)
    if kind < 8:
        parts = [part(draw, depth - 1) for _ in range(draw.randint(2, 3))]
        opening = draw.choice(["(", "(?:"])
        return opening + "|".join(text for text, _ in parts) + ")", lambda r: r.choice(parts)[1](r)
    text, sample = part(draw, depth - 1)
    low = draw.randint(0, 3)
    high = draw.choice([low, low + 1, low + 4, None])
    mark = draw.choice(["*", "+", "?", None, None])
    if mark:
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
    elif high == low:
        mark = "{%d}" % low
    else:
        mark = "{%d,%s}" % (low, "" if high is None else high)
    top = low + 3 if high is None else high
    return f"(?:{text}){mark}", lambda r: "".join(sample(r) for _ in range(r.randint(low, top)))


def pattern(draw):
    text, sample = part(draw, 3)
    if "|" in text:
        text = f"(?:{text})"
    before, after = draw.random() < 0.8, draw.random() < 0.8
    whole = ("^" if before else "") + text + ("$" if after else "")

    def any_text(r):
        return "".join(r.choice('ab"\\é 1\U0001f600') for _ in range(r.randint(0, 3)))

    PATTERNS[whole] = lambda r: ("" if before else any_text(r)) + sample(r) + ("" if after else any_text(r))
    return whole


def expression(draw):
    """(regular expression for a whole answer, sampler)"""
    return part(draw, 4)


class Maker:
    def __init__(self, draw):
        self.draw = draw
        self.definitions = {}

    def document(self):
        draw = self.draw
        count = draw.choice([0, 0, 1, 2, 3])
        names = draw.sample(["node", "tree", "text", "a/b", "x~y", "é", "list"], count)
        self.names = names
        # Mostly something with parts.
        big = draw.choice(
            [self.object] * 8 + [self.array, self.union, self.one_of, self.one_of, self.all_of, self.all_of]
        )
        schema = big(3) if draw.random() < 0.8 else self.schema(3)
        for name in names:
            self.definitions[name] = self.definition(name)
        if self.definitions:
            if draw.random() < 0.2 and isinstance(schema, dict) and "$ref" not in schema:
                schema = self.reference()
            if isinstance(schema, dict):
                schema = {**schema, "$defs": self.definitions}
        if isinstance(schema, dict) and draw.random() < 0.2:
            schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t", **schema}
        return schema

    def reference(self):
        name = self.draw.choice(self.names).replace("~", "~0").replace("/", "~1")
        if self.draw.random() < 0.3:
            name = name.replace("é", "%C3%A9")
        return {"$ref": f"#/$defs/{name}"}

    def definition(self, name):
        """What may call itself: always with a way out."""
        draw = self.draw
        kind = draw.randrange(4)
        itself = {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}
        if kind == 0:
            return {
                "type": "object",
                "properties": {"value": self.schema(1), "children": {"type": "array", "items": itself}},
                "required": draw.sample(["value", "children"], draw.randint(0, 2)),
                **({"additionalProperties": False} if draw.random() < 0.6 else {})}
        if kind == 1:
            return {
                "anyOf": [
                    {"type": "null"},
                    {
                        "type": "object", "properties": {"next": itself, "v": self.schema(1)},
                        "required": draw.choice([["next"], ["next", "v"], ["v"]])}]
            }
        if kind == 2:
            return {"anyOf": [self.schema(1), {"type": "array", "items": itself, "maxItems": draw.randint(1, 4)}]}
        return self.schema(2)

    def schema(self, depth):
        draw = self.draw
        kinds = [(self.string, 5), (self.number, 5), (self.integer, 4), (self.words, 3), (self.simple, 2)]
        if depth > 0:
            kinds += [
                (self.object, 10), (self.array, 6), (self.union, 3), (self.one_of, 3), (self.all_of, 3),
                (self.several, 2), (self.untyped, 1)]
        if self.names:
            kinds.append((lambda depth: self.reference(), 3))
        maker = draw.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        schema = maker(depth)
        if isinstance(schema, dict) and draw.random() < 0.05:
            schema = {"description": "what it is", "default": None, "examples": [1], **schema}
        return schema

    def simple(self, depth):
        draw = self.draw
        return draw.choice([
            {"type": "null"}, {"type": "boolean"}, {"type": "string"}, {"type": "integer"}, {"type": "number"}, True,
            {}, {"type": "array"}, {"type": "object"}])

    def string(self, depth):
        draw = self.draw
        schema = {"type": "string"}
        kind = draw.randrange(6)
        if kind == 0:
            schema["format"] = draw.choice(FORMATS)
        elif kind <= 2:
            schema["pattern"] = pattern(draw)
            if draw.random() < 0.2:
                schema["maxLength"] = draw.randint(5, 30)
            if draw.random() < 0.1:
                schema["minLength"] = draw.randint(1, 3)
        else:
            if draw.random() < 0.5:
                schema["minLength"] = draw.randint(0, 6)
            if draw.random() < 0.6:
                schema["maxLength"] = schema.get("minLength", 0) + draw.choice([0, 1, 2, 5, 20, 40])
        return schema

    def bounds(self, whole):
        draw = self.draw
        scale = draw.choice([1, 1, 10, 100, 1000, 10**6, 10**9])

        def bound():
            if whole:
                return draw.randint(-scale, scale)
            return draw.choice([
                draw.randint(-scale, scale), round(draw.uniform(-scale, scale), draw.randint(1, 6)), 0.1, -0.25, 1e-7,
                0])

        schema = {}
        low, high = sorted([bound(), bound()])
        if draw.random() < 0.6:
            schema[draw.choice(["minimum", "exclusiveMinimum"])] = low
        if draw.random() < 0.6:
            schema[draw.choice(["maximum", "exclusiveMaximum"])] = high + (2 if high == low else 0)
        return schema

    def number(self, depth):
        return {"type": "number", **self.bounds(False)}

    def integer(self, depth):
        draw = self.draw
        schema = {"type": "integer", **self.bounds(draw.random() < 0.8)}
        if draw.random() < 0.3:
            schema["multipleOf"] = draw.choice([1, 2, 3, 5, 7, 10, 12, 97])
        if draw.random() < 0.1:
            schema["type"] = "number"
            schema["multipleOf"] = draw.choice([2, 5, 10])
        return schema

    def constant(self):
        draw = self.draw
        kind = draw.randrange(9)
        if kind <= 3:
            return draw.choice(TEXTS)
        if kind == 4:
            return draw.choice([None, True, False])
        if kind == 5:
            return draw.choice([0, 1, -1, 12, 123, -12, 2**53, 10**18])
        if kind == 6:
            return draw.choice([0.5, -1.25, 1.5, 3.0, 0.001, 12.5])
        if kind == 7:
            return [self.constant() for _ in range(draw.randint(0, 2))]
        return {name: self.constant() for name in draw.sample(NAMES, draw.randint(0, 2))}

    def words(self, depth):
        draw = self.draw
        if draw.random() < 0.3:
            return {"const": self.constant()}
        values = []
        for _ in range(draw.randint(1, 6)):
            value = self.constant()
            if all(repr(value) != repr(other) for other in values):
                values.append(value)
        schema = {"enum": values}
        if draw.random() < 0.3 and any(isinstance(value, str) for value in values):
            schema = {"type": "string", **schema}
            if draw.random() < 0.3:
                schema["maxLength"] = 6
        return schema

    def object(self, depth, names=None):
        draw = self.draw
        if names is None:
            names = draw.sample(NAMES, draw.choice([0, 1, 2, 2, 3, 4, 6]))
        schema = {"type": "object"}
        if names or draw.random() < 0.3:
            schema["properties"] = {name: self.schema(depth - 1) for name in names}
        required = [name for name in names if draw.random() < 0.5]
        draw.shuffle(required)
        if required or draw.random() < 0.1:
            schema["required"] = required
        kind = draw.randrange(8)
        if kind < 3:
            schema["additionalProperties"] = False
        elif kind == 3:
            schema["additionalProperties"] = draw.choice([True, {}, self.schema(min(depth - 1, 1))])
        if required and draw.random() < 0.1:
            schema["minProperties"] = draw.randint(0, len(required))
        if kind < 3 and draw.random() < 0.1:
            schema["maxProperties"] = len(names) + draw.randint(0, 2)
        if kind == 7 and draw.random() < 0.3:
            # One that is not declared.
            schema["required"] = schema.get("required", []) + ["undeclared"]
        return schema

    def array(self, depth):
        draw = self.draw
        schema = {"type": "array"}
        if draw.random() < 0.35:
            schema["prefixItems"] = [self.schema(depth - 1) for _ in range(draw.randint(1, 3))]
        if draw.random() < 0.75:
            schema["items"] = draw.choice(
                [self.schema(depth - 1)] * 5 + [True, {}] + ([False] if "prefixItems" in schema else [])
            )
        if draw.random() < 0.4:
            schema["minItems"] = draw.randint(0, 3)
        if draw.random() < 0.4:
            schema["maxItems"] = schema.get("minItems", 0) + draw.choice([0, 1, 2, 5])
        return schema

    def several(self, depth):
        """A list of types, with keywords of some of them."""
        draw = self.draw
        types = draw.sample(["null", "boolean", "object", "array", "number", "integer", "string"], draw.randint(2, 4))
        schema = {"type": types}
        if "string" in types and draw.random() < 0.5:
            schema["maxLength"] = draw.randint(1, 9)
        if ("integer" in types or "number" in types) and draw.random() < 0.5:
            schema["minimum"] = draw.randint(-9, 9)
        if "array" in types:
            schema["items"] = self.schema(0)
        if "object" in types and draw.random() < 0.7:
            schema["properties"] = {"p": self.schema(0), "q": self.schema(0)}
        return schema

    def untyped(self, depth):
        draw = self.draw
        schema = draw.choice([self.object, self.array, self.string, self.integer])(depth)
        schema.pop("type")
        return schema

    def union(self, depth):
        draw = self.draw
        schema = {"anyOf": [self.schema(depth - 1) for _ in range(draw.randint(1, 4))]}
        if draw.random() < 0.1:
            schema["type"] = ["object", "string", "array", "number", "null"]
        return schema

    def one_of(self, depth):
        draw = self.draw
        kind = draw.randrange(3)
        if kind == 0:
            key = draw.choice(["kind", "type", "é"])
            members = []
            for word in draw.sample(["circle", "square", "circles", "é", 'a"b', ""], draw.randint(2, 4)):
                member = self.object(
                    depth - 1, draw.sample([name for name in NAMES if name != key], draw.randint(0, 3)))
                tag = {key: draw.choice([{"const": word}, {"enum": [word]}, {"type": "string", "const": word}])}
                rest = member.get("properties", {})
                member["properties"] = {**tag, **rest} if draw.random() < 0.7 else {**rest, **tag}
                member["required"] = [key] + [name for name in member.get("required", []) if name != "undeclared"]
                member.pop("maxProperties", None)
                members.append(member)
            return {"oneOf": members} if draw.random() < 0.7 else {"type": "object", "oneOf": members}
        if kind == 1:
            makers = draw.sample(
                [
                    self.string, self.integer, self.array, self.object, lambda depth: {"type": "null"},
                    lambda depth: {"type": "boolean"}],
                draw.randint(2, 4))
            return {"oneOf": [make(depth - 1) for make in makers]}
        at = draw.randint(-5, 20)
        return {
            "oneOf": [
                {"type": "integer", "maximum": at}, {"type": "integer", "minimum": at + 1, "maximum": at + 50},
                {"type": "string", "maxLength": 3}, {"type": "string", "minLength": 4}]
        }

    def all_of(self, depth):
        draw = self.draw
        kind = draw.randrange(5)
        if kind == 0:
            return {
                "type": "integer",
                "allOf": [{"minimum": draw.randint(-9, 9)}, {"multipleOf": draw.choice([2, 3])}, {"maximum": 99}]}
        if kind == 1:
            return {
                "type": "string",
                "allOf": [{"minLength": 2}, {"maxLength": draw.randint(3, 12)}, {"pattern": pattern(draw)}][
                    : draw.randint(2, 3)
                ],
            }
        names = draw.sample(NAMES, 6)
        members = []
        for index in range(draw.randint(1, 3)):
            member = self.object(depth - 1, names[2 * index : 2 * index + draw.randint(1, 2)])
            for word in ("additionalProperties", "maxProperties", "minProperties"):
                member.pop(word, None)
            member["required"] = [name for name in member.get("required", []) if name != "undeclared"]
            members.append(member)
        schema = {"allOf": members}
        if draw.random() < 0.4:
            schema = {"type": "object", "properties": {"own": self.schema(0)}, **schema}
        if draw.random() < 0.3 and len(members) > 1:
            # The same property twice: both apply.
            name = next(iter(members[0].get("properties", {"z": 0})))
            members[0].setdefault("properties", {})[name] = {"type": "integer", "minimum": 0}
            members[1].setdefault("properties", {})[name] = {"type": "integer", "maximum": 50}
        return schema


def keywords(schema, found=None):
    """How often each keyword stands in a schema."""
    found = {} if found is None else found
    if isinstance(schema, dict):
        for name, value in schema.items():
            found[name] = found.get(name, 0) + 1
            if name in ("properties", "$defs"):
                for inner in value.values():
                    keywords(inner, found)
            elif name not in ("enum", "const", "default", "examples"):
                for inner in value if isinstance(value, list) else [value]:
                    keywords(inner, found)
            if name == "format":
                found[f"format {value}"] = found.get(f"format {value}", 0) + 1
    return found
