"""What bench-recipes runs: the cells, and for each of them a centre, one factor at a time, and other tools' numbers."""

import sys

import rows

KINDS = ("facts", "chat", "classify", "prose")
# Model, rows; 100 rows first, so that each kind is known early.
SIZES = (("smollm2", 100), ("gemma", 100), ("smollm2", 400))
CELLS = [f"{model}-{rows}-{kind}" for model, rows in SIZES for kind in KINDS]
# Twenty facts in ten phrasings each, beside the cells: what a newcomer tries first.
HANDBOOK = "smollm2-200-facts"
# Losses of pairs: the rate alone is looked for.
PAIRS = [f"smollm2-100-{kind}" for kind in rows.PAIR_KINDS]
ALL = [*CELLS, HANDBOOK, *PAIRS]
# The runs that name nothing, with two seeds, and those whose held-out rows are a part of train.jsonl.
ALONE = {"Skein, train.jsonl alone": {}, "Skein, train.jsonl alone, seed 1": {"seed": 1}}
DEFAULTS = ("Skein", "Skein, seed 1", *ALONE)
PAIR_RATES = (5e-5, 1e-4, 2e-4, 5e-4, 1e-3)
ALL_LINEAR = "all-linear"
ATTENTION = "q_proj,k_proj,v_proj,o_proj"
MAX_LENGTH = 128
MATTERS = ("centre", "rate 3e-4", "rate 2e-3", "rate 3e-3", "targets q,k,v,o", "rank 4", "batch 16", "constant",
           "twice the epochs", "seed 1")
# Cells that get a small grid around the best.
GRID = ("smollm2-100-facts", "smollm2-100-chat", "smollm2-100-classify")
WIDTH = {"smollm2": 576, "gemma": 640}


def seeded(name):
    """The same recipe with another seed."""
    return "seed 1" if name == "centre" else name + ", seed 1"


def epochs(count, kind):
    """The epochs of the centre: about as many steps in each cell as learn its rows."""
    return max(1, (800 if kind != "prose" else 400) // count)


def runs(cell):
    """[(name, options)] of a cell, in the options of `skein train`."""
    model, count, kind = cell.split("-")
    whole = epochs(int(count), kind) if cell not in PAIRS else 3
    centre = {
        "target-modules": ALL_LINEAR, "rank": 16, "alpha": 32, "dropout": 0, "learning-rate": 1e-3, "schedule": "linear",
        "warmup-ratio": 0.05, "epochs": whole, "batch-size": 4, "weight-decay": 0.01, "max-grad-norm": 1.0, "seed": 0,
    }

    def run(name, **changes):
        options = dict(centre)
        for key, value in changes.items():
            options[key.replace("_", "-")] = value
        return name, {key: value for key, value in options.items() if value is not None}

    if cell in PAIRS:
        return [run(f"rate {rate:g}", learning_rate=rate, loss=kind) for rate in PAIR_RATES]
    one_factor = [
        run("centre"), run("rate 3e-4", learning_rate=3e-4), run("rate 2e-3", learning_rate=2e-3),
        run("rate 3e-3", learning_rate=3e-3),
        run("targets q,v", target_modules="q_proj,v_proj"), run("targets q,k,v,o", target_modules=ATTENTION),
        run("rank 4", rank=4), run("rank 32", rank=32),
        run("batch 2", batch_size=2), run("batch 16", batch_size=16),
        run("constant", schedule="constant"), run("cosine", schedule="cosine"), run("no warm-up", warmup_ratio=None),
        run("dropout 0.05", dropout=0.05), run("half the epochs", epochs=max(1, whole // 2)),
        run("twice the epochs", epochs=2 * whole), run("seed 1", seed=1),
    ]
    # "LoRA Without Regret" (Schulman et al. 2025): alpha 32, any rank, constant rate.
    formula = 5e-5 * 10 * (2000 / WIDTH[model]) ** 0.78
    regret = {"learning_rate": float(f"{formula:.4g}"), "schedule": "constant", "warmup_ratio": None}
    others = [
        # What a run does by itself: nothing is said.
        ("Skein", {}), ("Skein, seed 1", {"seed": 1}), run("formula", **regret),
        run("Skein before", target_modules=ATTENTION, rank=8, alpha=16, dropout=0.05, learning_rate=1e-4,
            schedule="constant", warmup_ratio=None, epochs=3),
        # trl 1.16.0 SFTConfig with peft 0.21.2 LoraConfig().
        run("TRL", target_modules="q_proj,v_proj", rank=8, alpha=8, learning_rate=2e-5, warmup_ratio=None, epochs=3,
            batch_size=8, weight_decay=0),
        # mlx-lm 0.32.2's CONFIG_DEFAULTS; scale 20 is alpha / rank.
        run("mlx-lm", rank=8, alpha=160, layers=16, learning_rate=1e-5, schedule="constant", warmup_ratio=None,
            epochs=None, iterations=1000, weight_decay=0, max_grad_norm=0),
        # unsloth's notebooks: 60 steps of 2 rows with 4 accumulated; axolotl's examples/llama-3/lora-1b.yml.
        run("unsloth", alpha=16, learning_rate=2e-4, warmup_ratio=None, warmup_steps=5, epochs=None, iterations=60, batch_size=8,
            weight_decay=0.001),
        run("axolotl", dropout=0.05, learning_rate=2e-4, schedule="cosine", warmup_ratio=0.1, epochs=1, weight_decay=0),
    ]
    if cell == HANDBOOK:
        return others[:2] + [run for run in others if run[0] == "Skein before"] + list(ALONE.items())
    # The first cell has every factor, the others what mattered there. What decides comes first: `measure.py --sweeps 1`
    # takes it alone. mlx-lm's thousand steps come last.
    factors = [run for run in one_factor if cell == CELLS[0] or run[0] in MATTERS]
    factors.append(run("formula, seed 1", seed=1, **regret))
    if cell in GRID:
        # Around the best: schedule and warm-up at its rate, and the warm-up with the formula's.
        for name, changes in (("2e-3, no warm-up", {"warmup_ratio": None}),
                              ("2e-3 constant, no warm-up", {"warmup_ratio": None, "schedule": "constant"})):
            factors += [run(name, learning_rate=2e-3, **changes), run(seeded(name), learning_rate=2e-3, seed=1, **changes)]
        for seed, name in enumerate(("1.3e-3 constant", seeded("1.3e-3 constant"))):
            factors.append(run(name, learning_rate=1.3e-3, schedule="constant", seed=seed))
    last = [run for run in others if run[0] == "mlx-lm"]
    return [run for run in others if run not in last and run[0] != "Skein before"] + factors + last


def main(words):
    """Prints the cells that are named, or all."""
    if unknown := [word for word in words if word not in ALL]:
        print(f'error: there is no cell "{unknown[0]}"\n  fix: name some of {", ".join(ALL)}', file=sys.stderr)
        sys.exit(64)
    print("\n".join(words or ALL))


if __name__ == "__main__":
    main(sys.argv[1:])
