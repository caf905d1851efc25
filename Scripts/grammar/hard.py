r"""Schemas that are easily got wrong, each with texts of which some are valid; and texts with small mistakes."""

import random
import re


def objects(**properties):
    return {"type": "object", "properties": properties}


A, S, N, I = {"type": "array"}, {"type": "string"}, {"type": "number"}, {"type": "integer"}
CASES = [
    # Names.
    (
        objects(a=I) | {"additionalProperties": S},
        ['{"a":1}', '{"\\u0061":"x"}', '{"a":1,"b":"x"}', '{"b":"x","a":1}', '{"aa":"x"}', '{"":"x"}']),
    (
        {"properties": {"\U0001f600": I, "é": I}, "additionalProperties": S},
        ['{"\\ud83d\\ude00":"x"}', '{"\\u00e9":"x"}', '{"e\u0301":"x"}', '{"é":1}', '{"\U0001f601":"x"}']),
    (
        {"properties": {'a"b': I, "c\\d": I, "e/f": I, "\n": I}, "additionalProperties": False},
        ['{"a\\"b":1,"c\\\\d":2,"e/f":3,"\\n":4}', '{"e\\/f":3}']),
    (
        {"properties": {"a": True, "b": False}, "additionalProperties": {"type": "null"}},
        ['{"b":1}', '{"b":null}', '{"a":[],"c":null}']),
    ({"type": "object", "properties": {"a": False}, "required": ["a"]}, []),
    ({"type": "object", "required": ["x", "y"]}, ['{"x":1,"y":2}', '{"y":2,"x":1}', '{"x":1}', '{"x":1,"y":2,"x":3}']),
    ({"type": "object", "properties": {str(i): I for i in range(60)}}, ["{}", '{"0":1,"59":2}', '{"59":2,"0":1}']),
    ({"additionalProperties": {"$ref": "#"}, "type": ["object", "null"]}, ['{"a":{"b":null}}', '{"a":1}']),
    (
        {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/B"}, "z": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}},
            "$defs": {"A": objects(a=I), "B": objects(b=I)}},
        ['{"z":{"a":1,"b":2}}', '{"z":{"b":2,"a":1}}'],
    ),
    (
        {"allOf": [objects(a=I) | {"additionalProperties": False}, objects(b=I)]},
        ['{"a":1}', '{"b":1}', '{"a":1,"b":1}', "{}"]),
    (
        {"allOf": [objects(a=I) | {"additionalProperties": S}, objects(b=I)]},
        ['{"a":1,"b":1}', '{"b":1}', '{"b":"x"}', '{"c":"x"}', '{"c":1}']),
    (
        {
            "allOf": [
                objects(a=I) | {"additionalProperties": S},
                objects(b=S) | {"additionalProperties": {"maxLength": 2}}]
        },
        ['{"a":1,"b":"x"}', '{"b":"xyz"}', '{"c":"xyz"}'],
    ),
    (
        {
            "properties": {"k": {"const": 1}}, "additionalProperties": False,
            "anyOf": [{"required": ["k"]}, {"properties": {"m": I}}]},
        ['{"k":1}', '{"m":1}', "{}"]),
    (
        {
            "type": "object", "minProperties": 1, "properties": {"a": I}, "required": ["a"], "maxProperties": 1,
            "additionalProperties": False},
        ['{"a":1}', "{}"]),
    ({"type": "object", "minProperties": 1}, ["{}"]),
    # Listed values.
    (
        {
            "enum": [
                "red", "redder", "re", "", 'r"', 1, 10, 100, 1.5, 1.55, -1, None, True, [1, 2],
                {"b": 1, "a": [2, {"c": None}]}]
        },
        [
            '"redd"', '"red"', "1", "10", "1.5", "1.50", "1.0", "15", "[1, 2]", "[1,2 ]",
            '{"b":1,"a":[2,{"c":null}]}', '{"a":[2,{"c":null}],"b":1}', "true", "-1", "-10"],
    ),
    (
        {"enum": [0.0, -0.0, 1e2, 1.5e-3, 1e20, 12345678901234567890]},
        ["0", "-0", "0.0", "100", "1e2", "0.0015", "100000000000000000000", "12345678901234567890"]),
    ({"const": -0.0}, ["0", "-0", "-0.0"]),
    ({"const": 1e-30}, ["0"]),
    ({"enum": [1, True, 0, False, "1"]}, ["1", "true", "false", "0", '"1"']),
    ({"const": True}, ["1", "true"]),
    ({"enum": [[1], [True]]}, ["[1]", "[true]"]),
    ({"const": {"a": False}}, ['{"a":0}', '{"a":false}']),
    ({"enum": [1.5, 2, "x", 3.0], "type": "integer"}, ["2", "3", "3.0", "1.5", '"x"']),
    (
        {"enum": ["a", "abc", "\U0001f600\U0001f600", "é"], "minLength": 2},
        ['"a"', '"abc"', '"é"', '"\U0001f600\U0001f600"']),
    ({"enum": ["a", "abc"], "pattern": "^a$"}, ['"a"', '"abc"']),
    ({"enum": ["2020-02-30", "2020-02-29"], "format": "date"}, ['"2020-02-30"', '"2020-02-29"']),
    ({"allOf": [{"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}, {"not": False}]}, ["1", "2", "3", "4"]),
    ({"enum": [1], "const": 2}, ["1", "2"]),
    ({"enum": []}, []),
    ({"enum": ["\U0001f600", "\u2028", "\u007f", "</script>", "a/b"]}, ['"a\\/b"', '"a/b"', '"\u2028"']),
    # Numbers.
    (
        N | {"exclusiveMinimum": 0, "exclusiveMaximum": 1e-15},
        ["0", "0.000000000000001", "0.0000000000000001", "0.0000000000000000001"]),
    (N | {"minimum": 0.1, "maximum": 0.1}, ["0.1", "0.10", "0.1000000000000001", "0.09"]),
    (N | {"exclusiveMinimum": 0.1, "exclusiveMaximum": 0.2}, ["0.1", "0.10", "0.11", "0.2", "0.20", "0.199999"]),
    (N | {"minimum": 0.1234567890123456}, ["0.123456789012345", "0.123456789012346", "0.1234567890123456"]),
    (N | {"exclusiveMaximum": 1.0000000000000002}, ["1", "1.0", "1.00000000000001"]),
    (N | {"exclusiveMaximum": -0.5, "exclusiveMinimum": -1}, ["-0.5", "-0.50", "-0.51", "-1", "-1.0", "-0.99"]),
    (N | {"minimum": -0.001, "maximum": 0.001}, ["-0", "0", "-0.0", "0.001", "-0.001", "-0.0010", "-0.0011", "0.00"]),
    (N | {"exclusiveMinimum": -0.0}, ["0", "0.0", "0.1"]),
    (N | {"maximum": -0.0}, ["0", "-0", "-1", "0.1"]),
    (N | {"minimum": 1e308}, []),
    (N | {"maximum": -1e300}, []),
    (N | {"minimum": 1e-300}, ["0", "0.1"]),
    (N | {"minimum": 999999999999999.5}, ["999999999999999", "1000000000000000"]),
    (
        N | {"minimum": 9007199254740993, "maximum": 9007199254740995},
        ["9007199254740992", "9007199254740993", "9007199254740994"]),
    (
        I | {"minimum": 9007199254740993, "maximum": 9007199254740995},
        ["9007199254740992", "9007199254740993", "9007199254740996"]),
    (I | {"exclusiveMinimum": 1.5, "exclusiveMaximum": 2.5}, ["1", "2", "3", "2.0"]),
    (I | {"exclusiveMinimum": 1, "exclusiveMaximum": 2}, ["1", "2"]),
    (I | {"multipleOf": 7, "minimum": 1, "maximum": 6}, ["7", "0"]),
    (I | {"multipleOf": 7, "minimum": -8, "maximum": 8}, ["-7", "0", "7", "-8", "1", "-0"]),
    (N | {"multipleOf": 3}, ["3", "3.0", "1", "-3"]),
    (N | {"multipleOf": 0.5}, []),
    (N | {"multipleOf": 1.0}, ["1", "1.5"]),
    (I | {"minimum": 1e2, "maximum": 1.01e2}, ["99", "100", "101", "102"]),
    ({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], "type": "integer"}, ["12", "4", "6", "24", "0"]),
    ({"type": ["integer", "number"], "maximum": 3}, ["1.5", "3.1"]),
    ({"type": ["integer", "string"], "minimum": 3, "maxLength": 1}, ["2", "3", "3.5", '"ab"', '"a"']),
    ({"minimum": 5}, ["4", "5", '"x"']),
    (I | {"maximum": 10**30, "minimum": 10**30 - 2}, [str(10**30), str(10**30 - 3), str(10**30 + 1)]),
    (N | {"minimum": 5, "maximum": 4}, ["5", "4"]),
    (I | {"minimum": -100, "maximum": -10}, ["-9", "-10", "-100", "-101", "-1", "-99"]),
    (I | {"minimum": 95, "maximum": 1005}, ["94", "95", "1005", "1006", "99", "100", "999", "1000", "9"]),
    # Texts.
    (S | {"maxLength": 0}, ['""', '"a"']),
    (
        S | {"minLength": 2, "maxLength": 2},
        [
            '"\U0001f600\U0001f600"', '"\\ud83d\\ude00"', '"\\ud83d\\ude00a"', '"ab"', '"\\u0061b"', '"e\u0301"',
            '"\\ud83d"', '"\\ude00\\ud83d"']),
    (S | {"minLength": 3, "maxLength": 2}, []),
    (S | {"pattern": ""}, ['""', '"x"']),
    (S | {"pattern": "^$"}, ['""', '"\\n"', '"x"']),
    (S | {"pattern": "a|^b"}, ['"xa"', '"b"', '"xb"', '"bx"']),
    (S | {"pattern": "^a|b$"}, ['"ax"', '"xb"', '"x"', '"b\\n"']),
    (S | {"pattern": "(^a|b$)c?"}, ['"a"', '"b"', '"bc"', '"xb"', '"xbc"']),
    (S | {"pattern": "^[^a]$"}, ['"\\n"', '"b"', '"a"', '"\U0001f600"', '"\\ud83d\\ude00"', '"\\u0061"']),
    (S | {"pattern": "^.$"}, ['"\\n"', '"\\u2028"', '"\\r"', '"\\u000a"', '"x"', '"\\""']),
    (S | {"pattern": "^\\d{2}$"}, ['"12"', '"١٢"', '"\\u0661\\u0662"', '"1\\u0032"']),
    (S | {"pattern": "^\\w+$"}, ['"é"', '"a_1"', '"\\u00e9"']),
    (S | {"pattern": "^\\W$"}, ['"é"', '"-"']),
    (S | {"pattern": "^\\s$"}, ['"\u00a0"', '" "', '"\\t"', '"\u001c"', '"\\u001c"', '"\ufeff"', '"\u0085"']),
    (S | {"pattern": "^\\S$"}, ['"\u00a0"', '"\\u001c"', '"\ufeff"', '"x"', '"\u0085"']),
    (
        S | {"pattern": "^[\U0001f600-\U0001f64f]{2}$"},
        ['"\U0001f600\U0001f601"', '"\\ud83d\\ude00\\ud83d\\ude01"', '"\U0001f650\U0001f600"']),
    (S | {"pattern": "^a{2,3}?b$"}, ['"aab"', '"ab"', '"aaaab"']),
    (S | {"pattern": "\\/"}, ['"/"', '"\\/"', '"\\u002f"']),
    (S | {"pattern": "^(a|ab)(c|bcd)(d*)$"}, ['"abcd"', '"abcdd"', '"acd"', '"abd"']),
    (S | {"pattern": "^[\\b]$"}, ['"\\b"', '"b"']),
    (S | {"pattern": "[A-Z]", "maxLength": 3}, ['"abC"', '"abc"', '"abcD"']),
    (S | {"pattern": "^x*$", "minLength": 3}, ['"xx"', '"xxx"']),
    (S | {"allOf": [{"pattern": "a"}, {"pattern": "b"}, {"pattern": "^.{3}$"}]}, ['"axb"', '"bxa"', '"axx"', '"ab"']),
    (S | {"pattern": "^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$"}, ['"1.5"', '"-"', '"."', '"+.5"', '"\u0661"', '"-\\n"', '""']),
    (S | {"pattern": "^(?=.*[a-z])(?=.*\\d)[a-z\\d]+$", "minLength": 3}, ['"ab1"', '"abc"', '"a1"', '"12a"']),
    (S | {"pattern": "^a(?=b)"}, []),
    (S | {"pattern": "^\\bfoo"}, []),
    (S | {"pattern": "^[[:alpha:]]$"}, []),
    (S | {"pattern": "(a"}, []),
    (S | {"pattern": "^a\\Z"}, []),
    (S | {"pattern": "^a+?$|^\\x41$|^\\u0042$"}, ['"aaa"', '"A"', '"B"', '"Ab"']),
    (S | {"format": "date", "maxLength": 9}, []),
    (S | {"format": "date", "pattern": "^2024-02-"}, ['"2024-02-29"', '"2023-02-28"', '"2024-02-30"']),
    (S | {"format": "email", "maxLength": 8}, ['"a@b.co"', '"ab@b.cdef"']),
    ({"format": "ipv4"}, ['"256.1.1.1"', '"01.1.1.1"', '"1.1.1.1"', "5"]),
    (
        S | {"format": "time"},
        ['"24:00:00Z"', '"23:59:60Z"', '"00:00:00"', '"12:00:00+24:00"', '"12:00:00.Z"', '"12:00:00-00:00"']),
    (
        S | {"format": "date-time"},
        ['"1900-02-29T00:00:00Z"', '"2000-02-29T00:00:00Z"', '"2000-02-29 00:00:00Z"', '"0000-01-01T00:00:00Z"']),
    (S | {"format": "nonsense"}, []),
    (S | {"format": "uuid", "minLength": 37}, []),
    ({"type": ["string", "integer"], "format": "uuid"}, ["1", '"x"']),
    # Lists.
    (A | {"prefixItems": [I], "minItems": 3}, ["[1,2,3]", "[1]", "[1,null,{}]"]),
    (A | {"prefixItems": [I, S], "items": False}, ["[]", "[1]", '[1,"x"]', '[1,"x",2]', '["x"]']),
    (A | {"maxItems": 0}, ["[]", "[1]"]),
    (A | {"items": False}, ["[]", "[1]"]),
    (A | {"prefixItems": [False]}, ["[]", "[1]"]),
    (A | {"items": I, "minItems": 2, "maxItems": 1}, []),
    (A | {"items": False, "minItems": 1}, []),
    (
        A | {"prefixItems": [I, I], "items": S, "maxItems": 3, "minItems": 1},
        ["[]", "[1]", '[1,2,"x"]', '[1,2,"x","y"]', '[1,"x"]']),
    (
        {"allOf": [{"items": I}, {"prefixItems": [{"minimum": 3}]}, {"minItems": 2}], "type": "array"},
        ["[3,1]", "[2,1]", "[3]"]),
    (A | {"uniqueItems": True}, []),
    (A | {"contains": I}, []),
    (A | {"items": {"$ref": "#"}}, ["[[],[[]]]", "[1]"]),
    # Unions.
    ({"oneOf": [N | {"exclusiveMaximum": 5}, N | {"minimum": 5}]}, ["5", "4.9", "5.0"]),
    ({"oneOf": [N | {"maximum": 5}, N | {"minimum": 5}]}, ["5"]),
    ({"oneOf": [I, N]}, []),
    ({"oneOf": [S | {"pattern": "^a"}, S | {"pattern": "^b"}]}, ['"ax"', '"bx"', '"cx"']),
    ({"oneOf": [S | {"pattern": "a"}, S | {"pattern": "b"}]}, []),
    ({"oneOf": [True, S]}, []),
    ({"oneOf": [{"const": 1}, {"const": 1.0}]}, ["1"]),
    ({"oneOf": [{"const": 1}, {"enum": [1, 2]}, {"enum": [3]}]}, ["1", "2", "3"]),
    ({"oneOf": [False, S]}, ['"x"', "1"]),
    (
        {"oneOf": [objects(a=I) | {"required": ["a"]}, objects(a=S) | {"required": ["a"]}]},
        ['{"a":1}', '{"a":"x"}', "{}"]),
    ({"oneOf": [objects(a=I), objects(a=S)]}, ["{}"]),
    (
        {
            "oneOf": [
                objects(a=I) | {"required": ["a"]},
                objects(b=I) | {"required": ["b"], "additionalProperties": False}]
        },
        ['{"a":1}', '{"b":1}', '{"a":1,"b":1}'],
    ),
    ({"oneOf": [{"minLength": 3}, {"type": "integer"}]}, ["1", '"abc"', '"ab"', "null"]),
    ({"oneOf": [{"type": "string"}, {"minimum": 3}]}, ['"x"', "5", "2"]),
    ({"anyOf": [{"const": "a"}, S | {"minLength": 5}]}, ['"a"', '"ab"', '"abcde"']),
    ({"anyOf": [{"minLength": 2}, {"minimum": 5}]}, ['"x"', '"xy"', "3", "5", "null"]),
    ({"type": "integer", "anyOf": [{"maximum": 3}, {"minimum": 8}]}, ["3", "5", "8"]),
    (
        {
            "anyOf": [objects(a=I) | {"required": ["a"]}, objects(b=I) | {"required": ["b"]}], "properties": {"c": S},
            "required": ["c"]},
        ['{"c":"x","a":1}', '{"c":"x"}', '{"a":1,"c":"x"}', '{"c":"x","b":"y"}']),
    ({"anyOf": []}, []),
    ({"oneOf": [{"oneOf": [{"const": 1}, {"const": 2}]}, {"const": 3}]}, ["1", "2", "3"]),
    (
        {
            "oneOf": [
                {"type": "object", "properties": {"k": {"const": "a"}, "v": {"oneOf": [I, S]}}, "required": ["k"]},
                {"type": "object", "properties": {"k": {"const": "b"}}, "required": ["k"]}]
        },
        ['{"k":"a","v":1}', '{"k":"b"}', '{"k":"c"}', '{"v":1,"k":"a"}'],
    ),
    # References.
    ({"$ref": "#/$defs/a", "$defs": {"a": objects(x={"$ref": "#/$defs/a"}) | {"required": ["x"]}}}, []),
    ({"$ref": "#"}, []),
    ({"anyOf": [{"$ref": "#"}, I]}, []),
    ({"$ref": "#/$defs/a", "maximum": 3, "$defs": {"a": I}}, ["3", "4", "1.5"]),
    ({"$ref": "#/$defs/none"}, []),
    ({"$ref": "http://example.com/x"}, []),
    (
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {"anyOf": [{"type": "null"}, objects(x={"$ref": "#/$defs/b"}) | {"required": ["x"]}]},
                "b": A | {"items": {"$ref": "#/$defs/a"}, "minItems": 1}}},
        ["null", '{"x":[null]}', '{"x":[]}', '{"x":[{"x":[null]}]}']),
    (
        {"$ref": "#b", "$defs": {"x": {"$anchor": "b", "type": "integer"}, "y": {"enum": [{"$anchor": "b"}]}}},
        ["1", '"x"']),
    ({"$defs": {"a": {"$id": "http://x/y", "type": "string"}}, "type": "integer"}, ["1"]),
    (
        {"properties": {"$ref": S, "type": I, "enum": {"enum": ["enum"]}}},
        ['{"$ref":"a","type":1,"enum":"enum"}', '{"$ref":1}']),
    (
        {"properties": {"a": {"allOf": [{"$ref": "#"}], "required": ["b"]}, "b": I}},
        ['{"a":{"b":1}}', '{"a":{}}', '{"b":1}']),
    ({"const": {"$ref": "#/$defs/a"}}, ['{"$ref":"#/$defs/a"}']),
    (True, ["1", "null", '{"a":[1, 2]}', "-0", "1e5", "[1 ,2]", " 1"]),
    (False, []),
    ({"type": "any"}, []),
    ({"type": []}, []),
    ({"if": I}, []),
    ({"unevaluatedProperties": False}, []),
    ({"dependentRequired": {"a": ["b"]}}, []),
    ({"propertyNames": S}, []),
    ({"patternProperties": {"a": I}}, []),
    ({"not": I}, []),
    ({"$dynamicRef": "#a"}, []),
    ({"dependencies": {"a": ["b"]}}, []),
    ({"maxLength": -1}, []),
    ({"required": "a"}, []),
]


def mutated(text, other, draw):
    """A text with a small mistake, or with a piece of another one."""
    kind = draw.randrange(10)
    at = draw.randrange(len(text))
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + draw.choice('{}[]":, 0123456789-.eEtfn\\u\n\taé\U0001f600') + text[at:]
    if kind == 2:
        return text[:at] + draw.choice('{}[]":, 0123456789-.eE\\uaé\U0001f600') + text[at + 1 :]
    numbers = list(re.finditer(r"-?\d+(\.\d+)?", text))
    if kind <= 5 and numbers:
        found = draw.choice(numbers)
        old = found.group()
        new = draw.choice([
            old + "0", "-" + old, old.lstrip("-"), old + ".0", old + ".5", "0" + old, old + "e1",
            str(int(float(old)) + 1), str(int(float(old)) - 1), "0", "1", "-1", "0.1", old[:-1] or "0", "9" * 16])
        return text[: found.start()] + new + text[found.end() :]
    pieces = list(re.finditer(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|\{\}|\[\]', text))
    if kind <= 8 and pieces:
        found = draw.choice(pieces)
        others = re.findall(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|\{\}|\[\]', other) or ["null"]
        new = draw.choice([
            draw.choice(others), "null", '""', "{}", "[]", "true",
            found.group()[:-1] + 'x"' if found.group().endswith('"') else "0", ""])
        return text[: found.start()] + new + text[found.end() :]
    parts = text.split(",")
    draw.shuffle(parts)
    return ",".join(parts[draw.randrange(2) :])
