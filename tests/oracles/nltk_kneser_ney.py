"""What NLTK 3.10.4 takes from each count; `tests/numerics/test_kneser_ney.py` holds ours against it.

In an environment of its own:

    pip install nltk==3.10.4 numpy
    python tests/oracles/nltk_kneser_ney.py > tests/oracles/nltk_kneser_ney.json

NLTK stops at the unigram, undiscounted; ours goes on to 1 / V. So its parts are given one by one: for every
order, context and word, the discounted share of the order itself and the weight of the order below.
"""

import json

import numpy as np
from nltk.lm.models import KneserNeyInterpolated
from nltk.util import everygrams

VOCABULARY, LENGTH, ORDER, DISCOUNT = 6, 600, 4, 0.75


def stream() -> list[int]:
    """A Markov chain of the second order, mostly."""
    rng = np.random.RandomState(0)
    found = [0, 1]
    for _ in range(LENGTH - 2):
        follows = (2 * found[-1] + found[-2] + 1) % VOCABULARY
        found.append(int(follows) if rng.random_sample() < 0.6 else int(rng.randint(VOCABULARY)))
    return found


def main() -> None:
    text = [str(token) for token in stream()]
    model = KneserNeyInterpolated(ORDER, discount=DISCOUNT)
    words = [str(token) for token in range(VOCABULARY)]
    model.fit([list(everygrams(text, max_len=ORDER))], vocabulary_text=words)
    found = []
    for width in range(1, ORDER):
        contexts = sorted({tuple(text[at : at + width]) for at in range(LENGTH - width)})
        for context in contexts[:: max(1, len(contexts) // 8)]:
            for word in words:
                share, left = model.estimator.alpha_gamma(word, context)
                at = [int(token) for token in context]
                found.append({"context": at, "word": int(word), "share": share, "left": left})
    print(json.dumps({"stream": stream(), "discount": DISCOUNT, "order": ORDER, "parts": found}))


if __name__ == "__main__":
    main()
