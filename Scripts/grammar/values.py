"""Random values that satisfy a schema, written in the ways that constrained decoding promises to allow: properties in
the order in which they are declared, none that are not declared where nothing says what they are, numbers without an
exponent, compact or with a space after `:` and `,`."""

import datetime
import decimal
import json
import re
import uuid
from urllib.parse import unquote

import schemas

ABOUT = {
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
    "array": {"prefixItems", "items", "minItems", "maxItems"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "string": {"minLength", "maxLength", "pattern", "format"}}
TYPES = ["null", "boolean", "object", "array", "number", "string"]


class Dead(Exception):
    pass


def kind_of(value):
    """Which of TYPES a value has."""
    if value is None:
        return "null"
    for kind, made in {"boolean": bool, "object": dict, "array": list, "string": str}.items():
        if isinstance(value, made):
            return kind
    return "number"


class Values:
    """Trees: ("raw", text), ("text", string), ("fixed", string), ("list", items), ("object", [(key, fixed, value)])."""

    def __init__(self, document, draw):
        self.document, self.draw = document, draw

    def target(self, reference):
        value = self.document
        for step in unquote(reference[1:]).split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            value = value[int(step)] if isinstance(value, list) else value[step]
        return value

    def flat(self, schema, out, depth=0):
        if depth > 20 or schema is False:
            raise Dead
        if schema is True:
            return
        out.append(schema)
        if "$ref" in schema:
            self.flat(self.target(schema["$ref"]), out, depth + 1)
        for member in schema.get("allOf", []):
            self.flat(member, out, depth + 1)
        for name in ("anyOf", "oneOf"):
            if name in schema:
                self.flat(self.draw.choice(schema[name]), out, depth + 1)

    def value(self, given, depth=0):
        if depth > 12:
            raise Dead
        every = []
        for schema in given:
            self.flat(schema, every)
        listed = [
            [schema["const"]] if "const" in schema else schema["enum"]
            for schema in every
            if "const" in schema or "enum" in schema
        ]
        types, stated, whole = set(TYPES), False, False
        for schema in every:
            if "type" in schema:
                names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
                whole = whole or "integer" in names and "number" not in names
                types &= {"number" if name == "integer" else name for name in names}
                stated = True
        if listed:
            chosen = self.draw.choice(listed[0])
            if kind_of(chosen) not in types:
                # Another alternative might allow it, but within the limits of values that are not listed.
                raise Dead
            return self.listed(chosen)
        if not stated:
            about = {kind for kind, words in ABOUT.items() for schema in every if words & schema.keys()}
            types = about or types
        if not types:
            raise Dead
        options = sorted(types)
        if depth > 4 and types - {"object", "array"}:
            options = sorted(types - {"object", "array"})
        kind = self.draw.choice(options)
        if kind == "null":
            return ("raw", "null")
        if kind == "boolean":
            return ("raw", self.draw.choice(["true", "false"]))
        if kind == "number":
            return ("raw", self.number(every, whole))
        if kind == "string":
            text = self.text(every)
            if not all(
                schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text))
                and re.search(schema.get("pattern", ""), text)
                for schema in every
            ):
                raise Dead
            return ("text", text)
        return self.list(every, depth) if kind == "array" else self.object(every, depth)

    def listed(self, value):
        if isinstance(value, str):
            return ("fixed", value)
        if isinstance(value, list):
            return ("list", [self.listed(item) for item in value])
        if isinstance(value, dict):
            return ("object", [(name, True, self.listed(item)) for name, item in value.items()])
        if isinstance(value, float):
            return ("raw", format(decimal.Decimal(repr(value)).normalize(), "f"))
        return ("raw", json.dumps(value))

    def number(self, every, whole):
        text = self.drawn(every, whole)
        # Another alternative might accept what this one does not mean.
        number = decimal.Decimal(text)
        for schema in every:
            bounds = {
                name: decimal.Decimal(repr(schema[name])) for name in ABOUT["number"] - {"multipleOf"} if name in schema
            }
            if (
                number < bounds.get("minimum", number)
                or number > bounds.get("maximum", number)
                or "exclusiveMinimum" in bounds
                and number <= bounds["exclusiveMinimum"]
                or "exclusiveMaximum" in bounds
                and number >= bounds["exclusiveMaximum"]
                or number % schema.get("multipleOf", 1)
                and "multipleOf" in schema
            ):
                raise Dead
        return text

    def drawn(self, every, whole):
        draw, exact = self.draw, decimal.Decimal
        low = [
            exact(repr(schema[name])) for schema in every for name in ("minimum", "exclusiveMinimum") if name in schema
        ]
        high = [
            exact(repr(schema[name])) for schema in every for name in ("maximum", "exclusiveMaximum") if name in schema
        ]
        divisors = [schema["multipleOf"] for schema in every if "multipleOf" in schema]
        step = 1
        for divisor in divisors:
            step = step * divisor
        far = draw.choice([10, 1000, 10**6, 10**12])
        first = max(low) if low else min(high) - far if high else exact(-far)
        last = min(high) if high else max(low) + far if low else exact(far)
        if first > last:
            raise Dead
        if whole or divisors or draw.random() < 0.4:
            if not low and not high and draw.random() < 0.05 and step == 1 and whole:
                return draw.choice(["9223372036854775807", "-9223372036854775808", "9007199254740993"])
            least, most = int(first.to_integral_value(decimal.ROUND_CEILING)), int(
                last.to_integral_value(decimal.ROUND_FLOOR)
            )
            least, most = -(-least // step), most // step
            if least > most:
                raise Dead
            return str(draw.choice([least, most, draw.randint(least, most)]) * step)
        if draw.random() < 0.15:
            chosen = draw.choice([first, last])
        else:
            chosen = first + (last - first) * exact(draw.random())
        places = draw.randint(0, 15)
        text = format(round(chosen, places), "f")
        digits = text.lstrip("-").replace(".", "").lstrip("0")
        if "." in text and len(digits) > 15:
            text = format(round(chosen, max(0, places - (len(digits) - 15))), "f")
        if len(text.lstrip("-").replace(".", "").lstrip("0")) > 15 and "." in text:
            raise Dead
        if (
            "." in text
            and draw.random() < 0.3
            and len(text.lstrip("-").replace(".", "").lstrip("0")) < 14
            and len(text.split(".")[1]) < 15
        ):
            text += "0"
        if text.startswith("-") and not text.strip("-0."):
            text = text[1:]
        return text

    def text(self, every):
        draw = self.draw
        formats = [schema["format"] for schema in every if "format" in schema]
        patterns = [schema["pattern"] for schema in every if "pattern" in schema]
        if formats:
            return self.formatted(formats[0])
        if patterns:
            sample = schemas.PATTERNS.get(patterns[0])
            if not sample:
                raise Dead
            return sample(draw)
        least = max([schema.get("minLength", 0) for schema in every] + [0])
        most = min(
            [schema["maxLength"] for schema in every if "maxLength" in schema] + [least + draw.choice([0, 3, 12, 60])]
        )
        if most < least:
            raise Dead
        alphabet = draw.choice([
            "abc xyz", 'a"\\/\b\f\n\r\t\u0000\u001f', "éß日本\u00a0\u2028\ufffd\uffff",
            "\U0001f600\U0001f469\u200d\U0001f680\U0010ffff", 'aé"\\\n日\U0001f600 {}[]:,'])
        return "".join(draw.choice(alphabet) for _ in range(draw.randint(least, most)))

    def formatted(self, name):
        draw = self.draw

        def date():
            return (
                datetime.date(1, 1, 1)
                + datetime.timedelta(draw.choice([draw.randrange(3652058), 730178 - 1, 59, 3652058]))
            ).isoformat()

        def time():
            text = f"{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}"
            if draw.random() < 0.4:
                text += "." + "".join(draw.choice("0123456789") for _ in range(draw.randint(1, 6)))
            return text + draw.choice([
                "Z", f"+{draw.randrange(24):02}:{draw.randrange(60):02}",
                f"-{draw.randrange(24):02}:{draw.randrange(60):02}"])

        if name == "date":
            return date()
        if name == "time":
            return time()
        if name == "date-time":
            return date() + "T" + time()
        if name == "uuid":
            text = str(uuid.UUID(int=draw.getrandbits(128)))
            return draw.choice([text, text.upper()])
        if name == "email":
            atom = lambda: "".join(draw.choice("abcXYZ019_+-") for _ in range(draw.randint(1, 8)))
            label = lambda: "".join(draw.choice("abcxyz019") for _ in range(draw.randint(1, 8)))
            return (
                draw.choice([atom(), atom() + "." + atom()])
                + "@"
                + label()
                + draw.choice([".org", ".co.uk", ".example"])
            )
        if name == "ipv4":
            return ".".join(str(draw.choice([draw.randrange(256), 0, 255, 9, 10, 99, 100, 199, 249])) for _ in range(4))
        raise Dead

    def list(self, every, depth):
        draw = self.draw
        longest = max([len(schema.get("prefixItems", [])) for schema in every] + [0])
        least = max([schema.get("minItems", 0) for schema in every] + [0])
        rest = any("items" in schema for schema in every)
        most = min(
            [schema["maxItems"] for schema in every if "maxItems" in schema]
            + [least + longest + draw.choice([0, 1, 4])]
        )
        if longest and not rest:
            most = min(most, max(longest, least))
        if most < least:
            raise Dead
        count = draw.choice([least, draw.randint(least, most)]) if depth > 3 else draw.randint(least, most)
        items = []
        for index in range(count):
            given = []
            for schema in every:
                prefix = schema.get("prefixItems", [])
                if index < len(prefix):
                    given.append(prefix[index])
                elif "items" in schema:
                    given.append(schema["items"])
            try:
                items.append(self.value(given, depth + 1))
            except Dead:
                if index < least:
                    raise
                break
        return ("list", items)

    def object(self, every, depth):
        draw = self.draw
        required = [name for schema in every for name in schema.get("required", [])]
        names = list(dict.fromkeys([name for schema in every for name in schema.get("properties", {})] + required))
        closed = [schema for schema in every if schema.get("additionalProperties") is False]
        fields = []
        often = draw.choice([0, 0.5, 1]) if depth < 4 else 0
        for name in names:
            if name not in required and draw.random() >= often:
                continue
            if any(name not in schema.get("properties", {}) for schema in closed):
                if name in required:
                    raise Dead
                continue
            given = []
            for schema in every:
                if name in schema.get("properties", {}):
                    given.append(schema["properties"][name])
                elif "additionalProperties" in schema:
                    given.append(schema["additionalProperties"])
            try:
                fields.append((name, True, self.value(given, depth + 1)))
            except Dead:
                if name in required:
                    raise
        stated = [schema["additionalProperties"] for schema in every if "additionalProperties" in schema]
        if not closed and (stated or not any("properties" in schema for schema in every)) and draw.random() < 0.6:
            for _ in range(draw.randint(0, 3)):
                name = draw.choice([
                    "extra", 'é"', "", "\U0001f600", names[0] + "x" if names else "n",
                    names[0][:-1] if names else "m", "日\n"])
                if name in names or any(name == other for other, _, _ in fields):
                    continue
                try:
                    fields.append((name, False, self.value(stated, depth + 1)))
                except Dead:
                    break
        return ("object", fields)


def quoted(text):
    """As property names and listed texts are spelled."""
    return (
        '"'
        + "".join(
            {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}.get(
                c, f"\\u{ord(c):04x}" if ord(c) < 0x20 else c)
            for c in text
        )
        + '"'
    )


def escaped(text, draw):
    """In one of the many spellings that JSON has."""
    out = ""
    for c in text:
        units = c.encode("utf-16-be")
        form = "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))
        kind = draw.randrange(6)
        if kind == 0:
            out += form
        elif kind == 1:
            out += form.upper().replace("\\U", "\\u")
        elif c == "/" and kind == 2:
            out += "\\/"
        else:
            out += json.dumps(c, ensure_ascii=kind == 3)[1:-1]
    return f'"{out}"'


def written(tree, style, draw):
    """style: (spaces: 0, 1 or None for either; spelling: "utf-8", "ascii" or "mixed")"""
    spaces, spelling = style

    def space():
        return " " if (draw.random() < 0.5 if spaces is None else spaces) else ""

    def text(value, fixed=False):
        if fixed:
            return quoted(value)
        return escaped(value, draw) if spelling == "mixed" else json.dumps(value, ensure_ascii=spelling == "ascii")

    kind, value = tree
    if kind == "raw":
        return value
    if kind in ("text", "fixed"):
        return text(value, kind == "fixed")
    parts = []
    for index, item in enumerate(value):
        before = "," + space() if index else ""
        if kind == "list":
            parts.append(before + written(item, style, draw))
        else:
            key, fixed, inner = item
            parts.append(before + text(key, fixed) + ":" + space() + written(inner, style, draw))
    marks = "[]" if kind == "list" else "{}"
    return marks[0] + "".join(parts) + marks[1]


STYLES = [(spaces, spelling) for spaces in (0, 1, None) for spelling in ("utf-8", "ascii", "mixed")]


def valid_texts(schema, judge, draw, count, longest=1500):
    """At most `count` different texts of values that are valid by `judge(value)`."""
    maker, found, tries = Values(schema, draw), {}, 0
    while len(found) < count and tries < 3 * count:
        tries += 1
        try:
            tree = maker.value([schema])
        except Dead:
            continue
        text = written(tree, draw.choice(STYLES), draw)
        if len(text) <= longest and text not in found and judge(text):
            found[text] = True
    return list(found)
