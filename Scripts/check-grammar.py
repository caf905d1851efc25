"""Judges what `skein-lab bench grammar --cases` writes; called by Scripts/check-grammar."""

import argparse
import collections
import json
import os
import random
import re
import sys
import threading
import time

import driver
import hard
import judge
import schemas
import shrink
import suite
import tokenizers_made
import values

REPORTED = 3  # failures of one kind that are made smaller and shown


def say(*words):
    print(*words, flush=True)


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.failures = collections.Counter()
        self.shown = collections.Counter()
        # By schema: values that are allowed where every byte is a token.
        self.allowed = {}

    # What is given to the program.

    def make_schemas(self, model):
        """The first schemas that are not refused; what was refused is told."""
        found, refused, seen = [], [], collections.Counter()
        wanted, number = self.arguments.schemas, 0
        drive = driver.Driver(self.arguments.skein, model)
        while len(found) < wanted:
            batch = []
            for _ in range(wanted):
                draw = random.Random(f"{self.arguments.seed} schema {number}")
                batch.append((number, schemas.Maker(draw).document()))
                number += 1
            results = drive.all([{"schema": schema} for _, schema in batch], 1, 0)
            for (index, schema), result in zip(batch, results):
                if len(found) == wanted:
                    break
                if "crash" in result:
                    self.report("crash", schema, result["crash"], f"schema {index}, compiling", drive, None)
                elif "refused" in result:
                    refused.append((index, schema, result))
                    valid = []
                    if "no value" in result["refused"]:
                        valid = values.valid_texts(schema, judge.Judge(schema).is_valid, random.Random(index), 100)
                    if valid:
                        self.report(
                            "refused", None, f"{json.dumps(schema, ensure_ascii=False)}: {result['refused']}",
                            f"schema {index}", drive, valid[0])
                else:
                    found.append((index, schema))
                    schemas.keywords(schema, seen)
        say(f"{len(found)} schemas ({', '.join(f'{name} {count}' for name, count in sorted(seen.items()))})")
        kinds = collections.Counter(re.sub(r'"[^"]*"|\d+', "_", result["refused"]) for _, _, result in refused)
        say(f"refused: {len(refused)} of {len(found) + len(refused)}")
        for kind, count in kinds.most_common():
            index, schema, result = min(
                (item for item in refused if re.sub(r'"[^"]*"|\d+', "_", item[2]["refused"]) == kind),
                key=lambda item: shrink.size(item[1]))
            say(f"  {count} x {kind}: at {result['pointer']!r} of {json.dumps(schema, ensure_ascii=False)[:400]}")
        return found

    def make_expressions(self):
        out = []
        for number in range(max(10, self.arguments.schemas // 4)):
            draw = random.Random(f"{self.arguments.seed} expression {number}")
            text, sample = schemas.expression(draw)
            out.append((text, list(dict.fromkeys(sample(draw) for _ in range(40)))))
        return out

    # What is wrong.

    def flaws(self, schema, judged, result, texts, seen, elsewhere=()):
        """[(kind, words, text)] of one result."""
        found = []
        if "crash" in result:
            return [("crash", result["crash"], None)]
        if "refused" in result:
            return [("refused: " + result["refused"], f"at {result['pointer']!r}", None)]
        needed = set()
        for number, run in enumerate(result["runs"]):
            seen["runs"] += 1
            if "needed" in run:
                seen["does not fit"] += 1
                needed.add(run["needed"])
                if run["needed"] is not None and run["needed"] <= run["limit"]:
                    found.append(("tokens", f"run {number}: needs {run['needed']}, limit {run['limit']}", None))
                continue
            text = run["text"]
            seen["tokens"] += run["tokens"]
            seen[f"ends by {run['finish_reason']}"] += 1
            seen["with U+FFFD"] += "\ufffd" in text
            if run["tokens"] > run["limit"]:
                found.append(("tokens", f"run {number}: {run['tokens']} tokens, limit {run['limit']}", text))
            if any(need is not None and run["tokens"] < need for need in needed):
                found.append((
                    "shortest", f"run {number}: {run['tokens']} tokens, less than the shortest, {needed}", text))
            flaw, twice = judged.flaw(text)
            seen["with a property twice"] += twice
            if flaw:
                found.append(
                    (flaw[0], f"run {number}, limit {run['limit']}, temperature {run['temperature']}: {flaw[1]}", text)
                )
        numbers = {need for need in needed if need is not None}
        if len(numbers) > 1 or None in needed and any("text" in run for run in result["runs"]):
            found.append(("shortest", f"the shortest value is said to take {needed}", None))
        for text, allowed in zip(texts, result["instances"]):
            seen["values"] += 1
            if allowed == "limit" or not allowed and text in elsewhere:
                # The shortest way to the end is not searched for without a limit.
                seen["values not allowed at a limit of exactly their tokens"] += 1
            elif not allowed:
                found.append(("value", "a valid value is not allowed", text))
        return found

    def report(self, kind, schema, words, where, drive, text):
        """Counts a failure; the first of each kind are made smaller."""
        self.failures[kind] += 1
        if self.shown[kind] >= REPORTED:
            return
        self.shown[kind] += 1
        say(f"FAILED ({kind}), {where}: {words}\n  schema: {json.dumps(schema, ensure_ascii=False)}\n  text: {text!r}")
        if schema is None or kind == "accepted":
            return
        spelled = tokenizers_made.is_spelled(drive.model)

        def failing(candidates):
            cases, judges = [], []
            for candidate in candidates:
                try:
                    judged = judge.Judge(candidate)
                    judged.check_schema()
                    texts = []
                    if kind == "value":
                        texts = [
                            text
                            for text in values.valid_texts(candidate, judged.is_valid, random.Random(1), 60)
                            if spelled(text)
                        ]
                except Exception:
                    judged, texts = None, []
                judges.append(judged)
                cases.append({"schema": candidate if judged else True, "instances": texts})
            runs = 1 if kind == "value" else self.arguments.runs
            results = (self.bytes if kind == "value" else drive).within(20, cases, runs, self.arguments.seed)
            out = []
            for case, judged, result in zip(cases, judges, results):
                flaws = (
                    []
                    if judged is None
                    else [
                        flaw
                        for flaw in self.flaws(case["schema"], judged, result, case["instances"], collections.Counter())
                        if flaw[0] == kind
                    ]
                )
                out.append(min(flaws, key=lambda flaw: len(flaw[2] or "")) if flaws else None)
            return out

        small, flaw = shrink.shrink(schema, failing)
        if flaw:
            say(f"  smallest: {json.dumps(small, ensure_ascii=False)}\n  text: {flaw[2]!r}\n  {flaw[1]}")
        else:
            say("  (alone, as case 0, it does not fail)")

    # The parts.

    def check_random(self, name, model, given, texts, judges):
        drive = driver.Driver(self.arguments.skein, model)
        spelled = tokenizers_made.is_spelled(model)
        runs = self.arguments.runs
        if model == self.arguments.demo:
            # Drawing one of 49,152 tokens takes milliseconds.
            given, runs = given[: max(10, len(given) // 4)], min(runs, 24)
        # What a schema allows is known from single bytes; here fewer values show that the tokens do.
        count = self.arguments.values if not self.allowed else max(50, self.arguments.values // 10)
        cases = [
            {"schema": schema, "instances": [text for text in texts[index] if spelled(text)][:count]}
            for index, schema in given
        ]
        seen, slow, began = collections.Counter(), [], time.monotonic()
        waiting = []
        is_first = not self.allowed
        for position, result, seconds in drive.run(cases, runs, self.arguments.seed):
            index, schema = given[position]
            slow.append((seconds, index))
            texts_given = cases[position]["instances"]
            for kind, words, text in self.flaws(
                schema, judges[index], result, texts_given, seen, self.allowed.get(index, ())
            ):
                waiting.append((kind, schema, words, f"{name}, schema {index}, case {position}", drive, text))
            if is_first and "instances" in result:
                self.allowed[index] = {text for text, allowed in zip(texts_given, result["instances"]) if allowed}
        if is_first:
            few = [{"schema": schema} for _, schema in given[:20]]
            if drive.all(few, self.arguments.runs, 7) != drive.all(few, self.arguments.runs, 7):
                self.report("repetition", None, "two runs with one seed differ", name, drive, None)
        seconds = time.monotonic() - began
        for flaw in waiting:
            self.report(*flaw)
        say(
            f"{name}: {dict(seen)}, {len(waiting)} failures, {seconds:.0f} s; "
            f"slowest case {max(slow)[0]:.1f} s (schema {max(slow)[1]})"
        )

    def check_mutants(self, model, given, texts, judges):
        """No invalid text may be allowed: those that are nearly valid, and schemas that are easily got wrong."""
        drive = driver.Driver(self.arguments.skein, model)
        cases, owners, began = [], [], time.monotonic()
        for index, schema in given:
            draw = random.Random(f"{self.arguments.seed} mutants {index}")
            valid = texts[index] or ["{}"]
            made = {
                hard.mutated(draw.choice(valid), draw.choice(valid), draw)
                for _ in range(min(self.arguments.values, 200))
            }
            cases.append({"schema": schema, "instances": sorted(text for text in made if text)})
            owners.append((f"schema {index}", judges[index]))
        for number, (schema, instances) in enumerate(hard.CASES):
            cases.append({"schema": schema, "instances": instances})
            owners.append((f"hard schema {number}", judge.Judge(schema)))
        seen = collections.Counter()
        for position, result, _ in drive.run(cases, self.arguments.runs, self.arguments.seed):
            schema, (where, judged) = cases[position]["schema"], owners[position]
            if where.startswith("hard"):
                seen["hard schemas refused" if "refused" in result else "hard schemas"] += 1
            if "refused" in result:
                continue
            if "crash" not in result:
                result["instances"] = [allowed is not False for allowed in result["instances"]]
                for text, allowed in zip(cases[position]["instances"], result["instances"]):
                    flaw = judged.flaw(text)[0]
                    seen["invalid texts" if flaw else "valid texts"] += 1
                    if allowed and flaw:
                        self.report("accepted", schema, f"an invalid text is allowed: {flaw[1]}", where, drive, text)
                    elif where.startswith("hard") and not flaw and not allowed:
                        seen["hard: valid texts not allowed"] += 1
                        if self.arguments.verbose:
                            say(f"  {where}: {json.dumps(schema, ensure_ascii=False)} does not allow {text!r}")
                result["instances"] = []
            for kind, words, text in self.flaws(schema, judged, result, [], seen):
                self.report(kind, schema, words, where, drive, text)
        say(f"mistakes and hard schemas: {dict(seen)}, {time.monotonic() - began:.0f} s")

    def check_expressions(self, name, model, given):
        drive = driver.Driver(self.arguments.skein, model)
        spelled = tokenizers_made.is_spelled(model)
        runs = min(self.arguments.runs, 12) if model == self.arguments.demo else self.arguments.runs
        seen, is_exact = collections.Counter(), drive.model == self.bytes.model
        draw = random.Random(self.arguments.seed)
        cases = []
        for text, samples in given:
            wrong = [
                hard.mutated(draw.choice(samples), draw.choice(samples), draw) for _ in range(40) if "" not in samples
            ]
            cases.append({
                "regex": text,
                "instances": [value for value in dict.fromkeys(samples + wrong) if value and spelled(value)]})
        for position, result, _ in drive.run(cases, runs, self.arguments.seed):
            text = cases[position]["regex"]
            if "crash" in result or "refused" in result:
                seen["refused"] += "refused" in result
                self.report("expression", None, f"{text!r}: {result}", name, drive, None)
                continue
            seen["expressions"] += 1
            for number, run in enumerate(result["runs"]):
                if "text" not in run:
                    continue
                seen["texts"] += 1
                if run["tokens"] > run["limit"] or not re.fullmatch(text, run["text"]):
                    self.report(
                        "expression", None, f"{text!r}, case {position}, run {number}", name, drive, run["text"])
            for value, allowed in zip(cases[position]["instances"], result["instances"]):
                matches = re.fullmatch(text, value) is not None
                seen["matching" if matches else "not matching"] += 1
                if allowed and not matches or is_exact and matches and not allowed and value in given[position][1]:
                    self.report(
                        "expression value", None, f"{text!r}, case {position}: allowed {allowed}", name, drive, value
                    )
        say(f"{name}, regular expressions: {dict(seen)}")

    def check_suite(self, model):
        drive = driver.Driver(self.arguments.skein, model)
        registry = suite.registry(self.arguments.suite)
        given = list(suite.cases(self.arguments.suite))
        cases, orders = [], []
        for _, _, schema, tests, _ in given:
            order = suite.declared(schema, {})
            orders.append(order)
            texts = [suite.compact(value) for value, _, _ in tests]
            cases.append({
                "schema": schema,
                "instances": texts + [suite.compact(suite.tidy(value, order)) for value, _, _ in tests]})
        table = collections.defaultdict(collections.Counter)
        reasons, odd = collections.Counter(), []
        refused = collections.Counter()
        for position, result, _ in drive.run(cases, self.arguments.runs, self.arguments.seed):
            path, about, schema, tests, asserts = given[position]
            row = table[path]
            row["cases"] += 1
            where = f"suite, {path}, {about!r}"
            if "crash" in result:
                self.report(
                    "suite crash", None, f"{where}: {json.dumps(schema)}: {result['crash']}", where, drive, None)
                continue
            if "refused" in result:
                row["refused"] += 1
                refused[(re.sub(r'"[^"]*"|\d+', "_", result["refused"]), (result["pointer"] or "").split("/")[-1])] += 1
                continue
            judged = judge.Judge(schema, registry, asserts)
            for number, run in enumerate(result["runs"]):
                if "text" not in run:
                    continue
                row["texts"] += 1
                try:
                    flaw, _ = judged.flaw(run["text"])
                except re.error:
                    row["texts without a verdict"] += 1
                    continue
                if flaw or run["tokens"] > run["limit"]:
                    row["texts invalid"] += 1
                    self.report(
                        "suite text", None, f"{json.dumps(schema, ensure_ascii=False)}: {flaw}, run {number}", where,
                        drive, run["text"])
            count = len(tests)
            for index, (value, valid, words) in enumerate(tests):
                as_given, tidied = result["instances"][index], result["instances"][index + count]
                row["valid" if valid else "invalid"] += 1
                if not valid:
                    row["invalid accepted"] += as_given or tidied
                    if as_given or tidied:
                        self.report(
                            "suite instance", None, f"{words}: {json.dumps(schema, ensure_ascii=False)}", where,
                            drive, suite.compact(value))
                    continue
                row["valid accepted"] += as_given or tidied
                if as_given:
                    reasons["accepted"] += 1
                elif tidied:
                    reasons["accepted after ordering properties, or 1.0 as 1"] += 1
                else:
                    why = suite.reason(schema, value, orders[position])
                    reasons[why or "no reason known"] += 1
                    if not why:
                        odd.append((path, about, words, schema, suite.compact(value)))
        say(
            "\n| file | cases | refused | texts | without a verdict | invalid | valid accepted | invalid accepted |"
            "\n|---|---|---|---|---|---|---|---|"
        )
        total = collections.Counter()
        for path, row in table.items():
            total.update(row)
        for path, row in [*table.items(), ("all", total)]:
            say(
                f"| {path.removesuffix('.json')} | {row['cases']} | {row['refused']} | {row['texts']} "
                f"| {row['texts without a verdict']} | {row['texts invalid']} "
                f"| {row['valid accepted']} of {row['valid']} | {row['invalid accepted']} of {row['invalid']} |"
            )
        say(f"\nvalid instances: {dict(reasons)}")
        for path, about, words, schema, text in odd:
            say(
                f"  not accepted: {path}, {about}, {words}: {json.dumps(schema, ensure_ascii=False)[:300]} {text[:200]}"
            )
        say("refused: " + "; ".join(f"{count} x {what} ({where})" for (what, where), count in refused.most_common()))

    def run(self):
        arguments = self.arguments
        began = time.monotonic()
        os.makedirs(arguments.folder, exist_ok=True)
        models = tokenizers_made.make(arguments.folder, arguments.demo)
        self.bytes = driver.Driver(arguments.skein, models["single bytes"])
        say(f"seed {arguments.seed}")
        given = self.make_schemas(models["byte-level pairs"])
        judges, texts = {}, {}
        for index, schema in given:
            judges[index] = judge.Judge(schema)
            judges[index].check_schema()
            draw = random.Random(f"{arguments.seed} values {index}")
            texts[index] = values.valid_texts(schema, judges[index].is_valid, draw, arguments.values)
        few = sum(len(found) < arguments.values for found in texts.values())
        say(
            f"{sum(map(len, texts.values()))} random values; {few} schemas have fewer than {arguments.values}, "
            f"{sum(not found for found in texts.values())} none; {time.monotonic() - began:.0f} s"
        )
        expressions = self.make_expressions()
        for name, model in models.items():
            if name != "single bytes" and arguments.only and not any(word in name for word in arguments.only):
                continue
            self.check_random(name, model, given, texts, judges)
            self.check_expressions(name, model, expressions)
        self.check_mutants(models["single bytes"], given, texts, judges)
        if arguments.suite and not arguments.no_suite:
            self.check_suite(models["byte-level pairs"])
        say(f"{judge.Steps.unjudged} values were not judged: jsonschema takes more than {judge.Steps.limit} steps")
        say(f"{time.monotonic() - began:.0f} s; failures: {dict(self.failures)}")
        if self.failures:
            return 1
        say("ok")
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skein", required=True)
    parser.add_argument("--demo")
    parser.add_argument("--suite")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schemas", type=int)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--values", type=int)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--no-suite", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    for name, (usual, quick) in {"schemas": (200, 20), "runs": (50, 24), "values": (500, 50)}.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, quick if arguments.quick else usual)
    # Schemas and values may be nested hundreds deep.
    sys.setrecursionlimit(100_000)
    threading.stack_size(512 << 20)
    status = []
    thread = threading.Thread(target=lambda: status.append(Check(arguments).run()))
    thread.start()
    thread.join()
    sys.exit(status[0] if status else 1)


if __name__ == "__main__":
    main()
