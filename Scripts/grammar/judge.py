"""Whether a text is what a schema asks for: a strict reader of the promised form, and Python's jsonschema."""

import decimal
import json
import re

from jsonschema import Draft202012Validator, FormatChecker

NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?")
STRING = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}|'
    r'[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*"'
)
# Stricter than jsonschema, whose "email" only wants an @.
FORMATS = {
    "date": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
    "time": re.compile(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII),
    "date-time": re.compile(
        r"\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
    ),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "email": re.compile(
        r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@"
        r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*"
    ),
    "ipv4": re.compile(r"((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}", re.ASCII),
}


class Malformed(Exception):
    pass


class Scanner:
    """No blank but one after `:` and `,`; no exponent, no -0, no leading zero; whole surrogate pairs."""

    def __init__(self, text):
        self.text, self.at, self.twice = text, 0, False

    def fail(self, what):
        raise Malformed(f"{what} at {self.at}: {self.text[max(0, self.at - 20):self.at + 20]!r}")

    def take(self, word):
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def string(self):
        found = STRING.match(self.text, self.at)
        if not found:
            self.fail("no string")
        self.at = found.end()
        return json.loads(found.group())

    def value(self):
        if self.take("["):
            if self.take("]"):
                return
            while True:
                self.value()
                if self.take("]"):
                    return
                if not self.take(","):
                    self.fail("no comma")
                self.take(" ")
        if self.take("{"):
            if self.take("}"):
                return
            names = set()
            while True:
                name = self.string()
                self.twice = self.twice or name in names
                names.add(name)
                if not self.take(":"):
                    self.fail("no colon")
                self.take(" ")
                self.value()
                if self.take("}"):
                    return
                if not self.take(","):
                    self.fail("no comma")
                self.take(" ")
        if self.text.startswith('"', self.at):
            return self.string()
        if any(self.take(word) for word in ("null", "true", "false")):
            return
        found = NUMBER.match(self.text, self.at)
        if not found:
            self.fail("no value")
        number = found.group()
        self.at = found.end()
        if number.startswith("-") and not number.strip("-0."):
            self.fail("-0")
        if self.text[self.at : self.at + 1] in ("e", "E", "."):
            self.fail("a number that goes on")
        if found.group(1) and len(number.lstrip("-").replace(".", "").lstrip("0")) > 15:
            self.fail("more than 15 significant digits")

    def document(self):
        self.value()
        if self.at != len(self.text):
            self.fail("something behind the value")


class TooLong(Exception):
    """jsonschema tries the members of a recursive union one in another: exponential in a value's depth."""


class Steps:
    """Bounds how often jsonschema goes into a part of a schema for one value."""

    limit = 200_000
    left = limit
    # Values that took more.
    unjudged = 0

    @classmethod
    def spend(cls):
        cls.left -= 1
        if cls.left < 0:
            raise TooLong


def bound_steps(validator):
    descend = validator.descend

    def bounded(self, *words, **named):
        Steps.spend()
        return descend(self, *words, **named)

    validator.descend = bounded


bound_steps(Draft202012Validator)


class Judge:
    def __init__(self, schema, registry=None, asserts=True):
        self.schema = schema
        more = {} if registry is None else {"registry": registry}
        checker = strict_checker() if asserts else None
        self.validator = Draft202012Validator(schema, format_checker=checker, **more)
        # Decimals as they are written, and as doubles.
        exact = json.loads(json.dumps(schema), parse_float=decimal.Decimal)
        self.exact = Draft202012Validator(exact, format_checker=checker, **more)

    def check_schema(self):
        # Without formats: it wants references in ASCII.
        Draft202012Validator.check_schema(self.schema, format_checker=FormatChecker(formats=()))

    def is_valid(self, text):
        Steps.left = Steps.limit
        try:
            return self.validator.is_valid(json.loads(text))
        except TooLong:
            Steps.unjudged += 1
            return False

    def flaw(self, text):
        """None, or (kind, words); and whether a property stands twice."""
        scanner = Scanner(text)
        try:
            scanner.document()
            json.loads(text)
        except (Malformed, ValueError) as error:
            return ("malformed", str(error)), False
        for validator, parse in [(self.validator, None), (self.exact, decimal.Decimal)]:
            if parse and "." not in text:
                break
            Steps.left = Steps.limit
            try:
                error = next(validator.iter_errors(json.loads(text, parse_float=parse)), None)
            except TooLong:
                Steps.unjudged += 1
                break
            if error:
                return (
                    "invalid",
                    f"{error.message[:300]} (at {error.json_path}, by {'/'.join(map(str, error.schema_path))})",
                ), scanner.twice
        return None, scanner.twice


def strict_checker():
    base = Draft202012Validator.FORMAT_CHECKER
    checker = FormatChecker(formats=())
    checker.checkers = dict(base.checkers)
    for name, expression in FORMATS.items():
        checker.checkers[name] = (
            lambda value, name=name, expression=expression: not isinstance(value, str)
            or (bool(expression.fullmatch(value)) and base.conforms(value, name)),
            (),
        )
    return checker
