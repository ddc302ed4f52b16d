"""What pingouin finds by TOST and repeated-measures ANOVA; tests of `statistics` hold ours against it.

pingouin is GPL-3 and so never a dependency. In an environment of its own (versions are in the output):

    pip install pingouin
    python tests/oracles/pingouin_tests.py > tests/oracles/pingouin_tests.json
"""

import json
import sys

import numpy as np
import pandas as pd
import pingouin


def tost(seed: int, n: int, m: int, margin: float, paired: bool) -> dict:
    rng = np.random.RandomState(seed)
    control, treatment = rng.standard_normal(n), rng.standard_normal(m) * 0.8 + 0.2
    found = pingouin.tost(treatment, control, bound=margin, paired=paired)
    return {
        "control": control.tolist(),
        "treatment": treatment.tolist(),
        "margin": margin,
        "paired": paired,
        "p": float(found["p_val" if "p_val" in found else "pval"].iloc[0]),
    }


def anova(seed: int, runs: int, levels: int, memory: float) -> dict:
    rng = np.random.RandomState(seed)
    covariance = memory ** np.abs(np.subtract.outer(range(levels), range(levels)))
    values = rng.multivariate_normal(np.linspace(0, 0.8, levels), covariance, size=runs)
    long = pd.DataFrame(values).rename_axis("run").reset_index().melt("run", var_name="level")
    table = pingouin.rm_anova(long, dv="value", within="level", subject="run", correction=True, detailed=True)
    row = {name.replace("-", "_"): value for name, value in table.iloc[0].items()}
    return {
        "values": values.tolist(),
        "f": float(row["F"]),
        "p": float(row["p_unc"]),
        "p_corrected": float(row["p_GG_corr"]),
        "epsilon": float(row["eps"]),
    }


def main() -> None:
    found = {
        "versions": {"pingouin": pingouin.__version__},
        "tost": [tost(0, 12, 9, 1.0, False), tost(1, 8, 8, 0.5, True), tost(2, 30, 30, 0.6, False)],
        "anova": [anova(0, 10, 4, 0.9), anova(1, 6, 3, 0.5), anova(2, 20, 7, 0.8), anova(3, 5, 8, 0.9)],
    }
    json.dump(found, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
