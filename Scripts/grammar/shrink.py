"""Makes a schema smaller while it still fails."""

import json
import time


def size(schema):
    return len(json.dumps(schema))


def less_of(value):
    """Plain JSON with one thing less."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield {key: other for key, other in value.items() if key != name}
            for less in less_of(inner):
                yield {**value, name: less}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield value[:index] + value[index + 1 :]
            for less in less_of(inner):
                yield value[:index] + [less] + value[index + 1 :]
    elif isinstance(value, str) and len(value) > 1:
        half = len(value) // 2
        yield from (value[:half], value[half:], value[1:], value[:-1])
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1:
        yield from (value // 2, value - 1)


def smaller(schema):
    """Schemas with one keyword, property or member less, and those inside of it alone."""
    if not isinstance(schema, dict):
        return
    yield True
    for name, value in schema.items():
        yield {key: other for key, other in schema.items() if key != name}
        if name in ("properties", "$defs") and isinstance(value, dict):
            parts = list(value.items())
            for key, inner in parts:
                if name == "properties":
                    yield inner
                yield {**schema, name: {other: kept for other, kept in parts if other != key}}
                for less in smaller(inner):
                    yield {**schema, name: {**value, key: less}}
        elif name in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            for index, inner in enumerate(value):
                yield inner
                yield {**schema, name: value[:index] + value[index + 1 :]}
                for less in smaller(inner):
                    yield {**schema, name: value[:index] + [less] + value[index + 1 :]}
        elif name in ("items", "additionalProperties"):
            yield value
            for less in smaller(value):
                yield {**schema, name: less}
        else:
            for less in less_of(value):
                yield {**schema, name: less}


def shrink(schema, failing, seconds=40):
    """`failing(schemas)`: for each, what failed or None. Returns the smallest schema found and what failed there."""
    end = time.monotonic() + seconds
    found = failing([schema])[0]
    is_smaller = found is not None
    while is_smaller and time.monotonic() < end:
        candidates = {}
        for less in smaller(schema):
            if isinstance(less, dict) and "$ref" in json.dumps(less) and "$defs" in schema:
                less = {"$defs": schema["$defs"], **less}
            if size(less) < size(schema):
                candidates[json.dumps(less)] = less
        candidates = sorted(candidates.values(), key=size)
        is_smaller = False
        for start in range(0, len(candidates), 30):
            batch = candidates[start : start + 30]
            failed = [(less, flaw) for less, flaw in zip(batch, failing(batch)) if flaw is not None]
            if failed:
                schema, found = failed[0]
                is_smaller = True
            if failed or time.monotonic() > end:
                break
    return schema, found
