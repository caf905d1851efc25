"""Writes pydantic-types.json: the schemas of Pydantic's ordinary types, with values that Pydantic itself
writes for them and texts that its validators refuse.

    python3 -m venv v && v/bin/pip install "pydantic[email]==2.12.5" && v/bin/python pydantic-types.py
"""

import collections
import datetime
import decimal
import ipaddress
import json
import pathlib
import uuid
from typing import Annotated, Any, Deque, Dict, FrozenSet, List, Literal, Optional, Pattern, Set, Tuple, Union

import pydantic
from pydantic import (UUID4, AnyUrl, AwareDatetime, BaseModel, Base64Bytes, ByteSize, ConfigDict, EmailStr, Field,
                      FilePath, HttpUrl, IPvAnyAddress, Json, NameEmail, PostgresDsn, SecretBytes, SecretStr,
                      TypeAdapter, conint, conlist, constr)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Pets(BaseModel):
    model_config = ConfigDict(extra="allow")
    pet: Annotated[Union[Cat, Dog], Field(discriminator="kind")]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    url: HttpUrl
    tags: Set[str]
    secret: SecretStr
    price: Annotated[decimal.Decimal, Field(multiple_of=decimal.Decimal("0.01"))]
    mirror: Optional[HttpUrl] = None


Key = Annotated[str, Field(pattern="^[a-z]+$")]
# A type, JSON that it takes, JSON that it refuses.
CASES: dict[str, tuple[Any, list[str], list[str]]] = {
    "HttpUrl": (HttpUrl, ['"http://example.com/"'], ['""', "1", '"not a url"']),
    "AnyUrl": (AnyUrl, ['"ftp://example.com/a"'], ['""', '"no url"']),
    "PostgresDsn": (PostgresDsn, ['"postgres://u:p@h1,h2/db"'], ['""', "1"]),
    "Set[int]": (Set[int], ["[]", "[1,2]"], ['["a"]', "{}"]),
    "Set[Literal]": (Set[Literal["a", "b", "c"]], ["[]", '["b","a"]', '["a","b","c"]'], ['["d"]', '"a"']),
    "Set[bool]": (Set[bool], ["[]", "[true,false]"], ['["a"]']),
    "FrozenSet[Literal]": (Annotated[FrozenSet[Literal["a", "b"]], Field(min_length=1)], ['["b"]'], ["[]", '["c"]']),
    "Path": (pathlib.Path, ['"a/b"'], ["1"]),
    "FilePath": (FilePath, [], ["1"]),
    "SecretStr": (SecretStr, ['"x"'], ["1"]),
    "SecretBytes": (SecretBytes, ['"x"'], ["1"]),
    "bytes": (bytes, ['"x"'], ["1"]),
    "Base64Bytes": (Base64Bytes, ['"eA=="'], ["1"]),
    "Pattern": (Pattern, ['"a+"'], ["1"]),
    "float multiple of 0.5": (Annotated[float, Field(multiple_of=0.5)], ["1", "-2.5", "0.0"], ["0.3", '"a"']),
    "Decimal": (decimal.Decimal, ["1.25", '"1.25"', '"-.5"', '"+007."'],
                ["true", "null", '""', '"-"', '"."', '"1.2.3"']),
    "Decimal multiple of 0.01": (Annotated[decimal.Decimal, Field(multiple_of=decimal.Decimal("0.01"))], ["1.25"],
                                 ["1.255", "null"]),
    "Decimal of 5 digits": (Annotated[decimal.Decimal, Field(max_digits=5, decimal_places=2)], ["1.25"], ["null"]),
    "keys with a pattern": (Dict[Key, int], ["{}", '{"ab":1,"c":2}'], ['{"A":1}', '{"a":"b"}']),
    "keys with a length": (Dict[constr(min_length=1, max_length=10), int], ["{}", '{"ab":1}'], ['{"":1}',
                           '{"01234567890":1}']),
    "keys that are UUIDs": (Dict[uuid.UUID, int], ['{"c9bf9e57-1685-4c89-bafb-ff5af830be8a":1}'], ['{"a":1}']),
    "keys that are dates": (Dict[datetime.date, int], ['{"2024-02-29":1}'], ['{"2023-02-29":1}']),
    "keys of a list": (Dict[Literal["a", "b"], int], ["{}", '{"b":1,"a":2}'], ['{"c":1}']),
    "keys that are numbers": (Dict[int, str], ['{"1":"a"}'], ['{"1":2}']),
    "one to three keys": (Annotated[Dict[str, int], Field(min_length=1, max_length=3)], ['{"a":1}',
                          '{"a":1,"b":2,"c":3}'], ["{}", '{"a":1,"b":2,"c":3,"d":4}']),
    "EmailStr": (EmailStr, ['"a@example.com"'], ['"a"']),
    "NameEmail": (NameEmail, ['"A <a@example.com>"'], ["1"]),
    "IPvAnyAddress": (IPvAnyAddress, ['"127.0.0.1"'], ["null"]),
    "IPv4Address": (ipaddress.IPv4Address, ['"127.0.0.1"'], ['"127.0.0.256"']),
    "IPv6Address": (ipaddress.IPv6Address, ['"::1"'], ['"127.0.0.1"']),
    "IPv4Network": (ipaddress.IPv4Network, ['"127.0.0.0/8"'], ["null"]),
    "timedelta": (datetime.timedelta, ['"P1DT2H"'], ['"a"']),
    "UUID": (uuid.UUID, ['"c9bf9e57-1685-4c89-bafb-ff5af830be8a"'], ['"c9bf"']),
    "UUID4": (UUID4, ['"c9bf9e57-1685-4c89-bafb-ff5af830be8a"'], ["1.5"]),
    "datetime": (datetime.datetime, ['"2024-02-29T23:59:59Z"'], ['"2023-02-29T00:00:00Z"']),
    "AwareDatetime": (AwareDatetime, ['"2024-02-29T23:59:59+01:00"'], ['"a"']),
    "date": (datetime.date, ['"2024-02-29"'], ['"2023-02-29"']),
    "time": (datetime.time, ['"23:59:59Z"'], ['"24:00:00Z"']),
    "Json": (Json, ['"{}"'], ["1"]),
    "int multiple of 5": (conint(gt=0, multiple_of=5), ["5", "10"], ["0", "3"]),
    "500 to 1000 numbers": (conlist(int, min_length=500, max_length=1000),
                            [json.dumps([1] * 500), json.dumps([1] * 1000)], [json.dumps([1] * 499), "[]",
                            json.dumps([1] * 1001)]),
    "Tuple": (Tuple[int, str], ['[1,"a"]'], ["[1]", '[1,"a",2]']),
    "long text": (constr(max_length=10000), [json.dumps("a" * 10000)], [json.dumps("a" * 10001)]),
    "long word": (constr(pattern="^[a-z]{1,5000}$"), [json.dumps("a" * 5000)], ['""', json.dumps("a" * 5001)]),
    "ByteSize": (ByteSize, ["5", '"5 GB"'], ["-1", "null"]),
    "Optional[HttpUrl]": (Optional[HttpUrl], ["null", '"https://example.com/a?b=c"'], ['"a b"']),
    "Deque": (Deque[int], ["[1]"], ["1"]),
    "union by a field": (Pets, ['{"pet":{"kind":"cat","lives":7}}'], ['{"pet":{"kind":"cow"}}', "{}"]),
    "model": (Closed, ['{"url":"http://example.com/","tags":["a","b"],"secret":"s","price":1.25,"mirror":null}'],
              ['{"url":"http://example.com/","tags":[],"secret":"s","price":1.25,"other":1}', "{}"]),
}


def takes(adapter: TypeAdapter, text: str) -> bool:
    try:
        adapter.validate_json(text)
        return True
    except pydantic.ValidationError:
        return False


assert pydantic.VERSION == "2.12.5", pydantic.VERSION
rows = []
for name, (type_, good, bad) in CASES.items():
    adapter = TypeAdapter(type_)
    assert all(takes(adapter, text) for text in good), name
    assert not any(takes(adapter, text) for text in bad), name
    rows.append({"name": name, "schema": adapter.json_schema(), "good": good, "bad": bad})
path = pathlib.Path(__file__).with_name("pydantic-types.json")
path.write_text("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")
