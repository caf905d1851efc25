"""The cases of the official JSON-Schema-Test-Suite, draft 2020-12."""

import glob
import json
import os

import referencing.jsonschema
from jsonschema_specifications import REGISTRY

FORMATS = ["date", "time", "date-time", "uuid", "email", "ipv4", "duration", "hostname", "ipv6", "uri"]


def registry(folder):
    found = []
    root = f"{folder}/remotes"
    for path in glob.glob(f"{root}/**/*.json", recursive=True):
        with open(path, encoding="utf-8") as file:
            contents = json.load(file)
        name = os.path.relpath(path, root)
        if name.startswith("draft") and not name.startswith("draft2020-12"):
            continue
        resource = referencing.jsonschema.DRAFT202012.create_resource(contents)
        found.append((f"http://localhost:1234/{name}", resource))
    return REGISTRY.with_resources(found)


def cases(folder):
    """(file, description, schema, [(instance, valid, description)], whether formats are asserted)"""
    root = f"{folder}/tests/draft2020-12"
    paths = sorted(glob.glob(f"{root}/*.json")) + sorted(glob.glob(f"{root}/optional/*.json"))
    paths += [f"{root}/optional/format/{name}.json" for name in FORMATS]
    for path in paths:
        with open(path, encoding="utf-8") as file:
            groups = json.load(file)
        for group in groups:
            tests = [(test["data"], test["valid"], test["description"]) for test in group["tests"]]
            yield os.path.relpath(path, root), group["description"], group["schema"], tests, "format/" in path


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def declared(schema, out):
    """Names of properties, in order, from everywhere in a schema."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == "properties" and isinstance(value, dict):
                for key in value:
                    out.setdefault(key, len(out))
        for name, value in schema.items():
            if name not in ("enum", "const"):
                declared(value, out)
    elif isinstance(schema, list):
        for value in schema:
            declared(value, out)
    return out


def tidy(value, order):
    """The same value in the promised form: properties in order, whole numbers as integers."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: order.get(name, len(order)))
        return {name: tidy(value[name], order) for name in names}
    if isinstance(value, list):
        return [tidy(item, order) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e18:
        return int(value)
    return value


ABOUT = {
    dict: {"properties", "required", "additionalProperties", "minProperties", "maxProperties", "patternProperties"},
    list: {"prefixItems", "items", "minItems", "maxItems"}, str: {"minLength", "maxLength", "pattern", "format"},
    float: {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}}


def words(schema, out):
    if isinstance(schema, dict):
        for name, value in schema.items():
            out.add(name)
            if name not in ("enum", "const"):
                words(value, out)
    elif isinstance(schema, list):
        for value in schema:
            words(value, out)
    return out


def reason(schema, value, order):
    """Why a valid instance is not written, as far as it is a documented choice; None: there is no such reason."""
    found = words(schema, set())
    kind = float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)
    about = {type for type, names in ABOUT.items() if names & found}
    if about and kind not in about:
        return "other type"
    text = compact(value)
    if any(mark in text for mark in ("e+", "e-", "E")) and kind is float:
        return "exponent"
    if isinstance(value, (dict, list)):
        extra = [0]

        def look(inner):
            if isinstance(inner, dict):
                extra[0] += sum(name not in order for name in inner)
                for item in inner.values():
                    look(item)
            elif isinstance(inner, list):
                for item in inner:
                    look(item)

        look(value)
        if extra[0] and "properties" in found:
            return "undeclared property"
        if isinstance(value, list) and "prefixItems" in found and "items" not in found:
            return "item behind prefixItems"
        if "const" in found or "enum" in found:
            return "a listed object in another order"
        if "anyOf" in found and "required" in found:
            return "undeclared property"
        if "\\f" in text or "\\b" in text:
            return "a name in another spelling"
    if "format" in found:
        return "format: asserted, and not in its usual form"
    if "pattern" in found:
        return "pattern: a character that dialects disagree about"
    if kind is float and len(text.strip("-")) > 15:
        return "more digits than are written"
    return None
