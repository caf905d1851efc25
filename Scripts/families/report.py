"""What counts as a failure, what is counted, and the table of it."""

import statistics
import time

LOGITS, GRADIENT = 1e-4, 1e-3
BOUNDS = (("logits", LOGITS), ("gradient", GRADIENT))


def passes(worst):
    return (
        worst["logits"] <= LOGITS and worst["loss"] <= LOGITS and worst["gradient"] <= GRADIENT
        and worst["tokens"] == 0)


class Draw:
    """One model."""

    def __init__(self, spread, is_of_slices):
        self.spread, self.is_of_slices = spread, is_of_slices
        self.worst, self.torch = dict(logits=0.0, loss=0.0, gradient=0.0), 0.0
        self.bf16, self.noticed, self.failures, self.remarks, self.beyond, self.ties = None, set(), [], [], 0, 0

    def add(self, worst, torch, name):
        """Errors from a folder or a GGUF file, and those of torch in fp32 on the same model."""
        numbers = ", ".join(f"{key} {value:.1e}" for key, value in worst.items())
        self.ties += int(worst["ties"])
        # No fp32 can be asked for more than the model's own numbers allow: about what torch's reaches, whose runs may
        # all have been lucky by a factor.
        beyond = [
            key for key, bound in BOUNDS
            if torch[key] > bound and bound < worst[key] <= 2 * torch[key]]
        for key in beyond:
            self.remarks.append(f"{name}: {key} {worst[key]:.1e}, of torch in fp32 {torch[key]:.1e}")
            worst = dict(worst, **{key: 0.0})
        self.beyond += bool(beyond)
        if "gradient" not in beyond:
            self.torch = max(self.torch, torch["gradient"])
        if not passes(worst):
            limits = ", ".join(f"{key} {torch[key]:.1e}" for key in ("logits", "gradient"))
            self.failures.append(f"{name} differs: {numbers}; of torch in fp32: {limits}")
        for key in self.worst:
            self.worst[key] = max(self.worst[key], worst[key])

    def add_bf16(self, errors, limits):
        """Errors in bf16, beside those of torch with everything in bf16."""
        self.bf16 = {kind: errors[kind] / limits[kind] for kind in limits}
        if not self.bf16["logits"] <= 1:
            line = ", ".join(
                f"{name} {errors[kind]:.1e}, torch's {limits[kind]:.1e}"
                for kind, name in dict(logits="logits differ by", place="at the median place by").items())
            # One place where numbers cancel can decide the norm of all, for torch or for Skein.
            (self.remarks if self.bf16["place"] <= 1 else self.failures).append(f"bf16: {line}")

    def add_field(self, field, worst):
        """Errors with one field of the design switched off."""
        if passes(worst):
            self.failures.append(f"nobody notices that {field} is off")
        else:
            self.noticed.add(field)


class Family:
    """All models of one."""

    def __init__(self):
        self.began, self.draws, self.noticed = time.time(), [], set()

    def add(self, draw):
        self.draws.append(draw)
        self.noticed |= draw.noticed

    def worst(self, key):
        return max(draw.worst[key] for draw in self.draws)

    def total(self, name):
        return sum(getattr(draw, name) for draw in self.draws)

    def bf16(self, kind):
        """Our error in bf16 as a share of torch's: the median."""
        shares = [draw.bf16[kind] for draw in self.draws if draw.bf16]
        return f"{statistics.median(shares):.2f}" if shares else ""

    def cells(self):
        return [
            *(f"{self.worst(key):.1e}" for key in ("logits", "loss", "gradient")),
            f"{max(draw.torch for draw in self.draws):.1e}", str(self.total("beyond")), str(self.total("ties")),
            self.bf16("logits"), self.bf16("base_model"), f"{min(draw.spread for draw in self.draws):.1f}",
            str(len(self.noticed))]

    def __str__(self):
        names = ["logits", "loss", "gradient", "torch", "beyond", "ties", "bf16", "bf16 gradient", "scores", "fields"]
        words = [f"{name} {cell}" for name, cell in zip(names, self.cells())]
        if of_slices := self.total("is_of_slices"):
            words.append(f"adapters of slices {of_slices}")
        return ", ".join(words) + f", {time.time() - self.began:.0f} s"


def replace_section(path, name, lines):
    """Puts the lines into a page, between the two comments with this name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    with open(path) as file:
        page = file.read()
    before, rest = page.split(begin)
    with open(path, "w") as file:
        file.write(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def write_table(path, results, head):
    replace_section(path, "check-families", [
        f"{head} models of each family, each from a folder and from a GGUF file.",
        "",
        "| `model_type` | logits | loss | gradient | torch fp32 | beyond | ties | bf16 logits | bf16 gradient | scores |"
        " fields |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(f"| `{family}` | {' | '.join(total.cells())} |" for family, total in results.items()),
    ])
