"""Series, groups and pairs of runs as the page gets them."""

import math

import numpy as np
import pytest
import scipy.stats

from dashboard_runs import losses, made, recipe
from ontogeny.dashboard.courses import band


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(0)
    curve = 5 / np.sqrt(np.arange(1, 517)) + rng.normal(0, 0.1, 516)
    for seed in range(3):
        made(tmp_path, f"same-{seed}", losses(curve), recipe=recipe(seed))
    for seed, count in enumerate((516, 521, 300)):
        values = rng.normal(2, 1, count)
        made(tmp_path, f"other-{seed}", losses(values), recipe=recipe(seed, lr=0.5))
    return tmp_path


def test_a_series_is_in_anchored_buckets_that_all_runs_share(home, serving):
    client = serving(home)
    ids = client.ids
    header, series = client.get(
        "/api/series", runs=f"{ids['same-0']},{ids['other-1']}", metric="loss", most=100, scale="linear"
    )
    width = 2 ** header["level"]
    assert [one["run"] for one in header["series"]] == [ids["same-0"], ids["other-1"]]
    assert [one["points"] for one in header["series"]] == [516, 521]
    for one in series:
        assert (one["left"] % width == 0).all()
        assert (one["right"] - one["left"] == width).all()
        assert len(one["left"]) <= 100
    assert series[0]["left"].tolist() == series[1]["left"][: len(series[0]["left"])].tolist()


@pytest.mark.parametrize("scale", ["linear", "step"])
@pytest.mark.parametrize("most", [10, 100, 1000])
def test_no_point_and_no_extreme_is_lost(home, serving, scale, most):
    client = serving(home)
    run = client.ids["other-0"]
    header, (one,) = client.get("/api/series", runs=run, metric="loss", most=most, scale=scale)
    assert one["count"].sum() == 516
    told = client.get("/api/series", runs=run, metric="loss", most=1000)[1][0]
    assert (one["low"].min(), one["high"].max()) == (told["low"].min(), told["high"].max())
    assert header["series"][0]["total"] == 516


def test_smoothing_is_of_raw_values_in_a_window_that_is_told(home, serving):
    client = serving(home)
    run = client.ids["same-0"]
    values = client.get("/api/series", runs=run, metric="loss", most=1000)[1][0]
    x, y = values["left"], values["first"].astype(float)
    for most in (1000, 50):
        header, (one,) = client.get("/api/series", runs=run, metric="loss", most=most, w=40)
        assert header["window"] == 40
        centre = (one["left"] + one["right"] - 1) / 2
        low, high = np.minimum(centre - 20, one["left"]), np.maximum(centre + 20, one["right"] - 1)
        expected = [y[(x >= a) & (x <= b)].mean() for a, b in zip(low, high, strict=True)]
        assert one["smooth"] == pytest.approx(expected, rel=1e-6)
    assert "smooth" not in values


def test_a_part_of_the_axis_holds_the_same_buckets(home, serving):
    client = serving(home)
    run = client.ids["other-1"]
    header, (part,) = client.get("/api/series", runs=run, metric="loss", most=20, first=100, last=260)
    again, (whole,) = client.get("/api/series", runs=run, metric="loss", most=521 >> header["level"] | 1)
    assert again["level"] >= header["level"]
    assert part["left"].min() <= 100
    assert part["right"].max() > 260
    assert part["count"].sum() <= whole["count"].sum()


def test_a_run_without_the_metric_says_so(tmp_path, serving):
    made(tmp_path, "bare", [(1, {"other": 1.0})])
    made(tmp_path, "whole", losses([2.0]))
    client = serving(tmp_path)
    ids = client.ids
    header, series = client.get("/api/series", runs=f"{ids['bare']},{ids['whole']}", metric="loss")
    assert header["series"][0]["points"] == 0
    assert "no such metric" in header["series"][0]["reason"]
    assert len(series) == 1
    header, series = client.get("/api/series", runs=ids["bare"], metric="other", x="tokens")
    assert "no tokens" in header["series"][0]["reason"]


def test_the_mean_of_identical_runs_is_the_run_bit_for_bit(home, serving):
    client = serving(home)
    runs = ",".join(client.ids[f"same-{seed}"] for seed in range(3))
    for query in ({"most": 1000}, {"most": 60}, {"most": 60, "smooth": 0.2}):
        alone = client.get("/api/group", runs=client.ids["same-0"], metric="loss", **query)[1][0]
        header, (group,) = client.get("/api/group", runs=runs, metric="loss", **query)
        assert group["mean"].tobytes() == alone["mean"].tobytes()
        assert (group["n"] == 3).all()
        assert (group["low"] == group["mean"]).all()
        assert (group["high"] == group["mean"]).all()
        assert header["series"][0]["n"] == 3
    raw = client.get("/api/series", runs=client.ids["same-0"], metric="loss", most=1000)[1][0]
    exact = client.get("/api/group", runs=runs, metric="loss", most=1000)[1][0]
    assert exact["mean"].tobytes() == raw["first"].tobytes()


def test_runs_of_other_lengths_are_averaged_where_they_are(home, serving):
    client = serving(home)
    runs = ",".join(client.ids[f"other-{seed}"] for seed in range(3))
    _, (group,) = client.get("/api/group", runs=runs, metric="loss", most=1000)
    assert len(group["n"]) == 521
    assert [group["n"][at] for at in (0, 299, 300, 515, 516, 520)] == [3, 3, 2, 2, 1, 1]
    assert np.isnan(group["low"][-1])


def test_groups_are_by_configuration_without_the_seed(home, serving):
    client = serving(home)
    header, _ = client.get("/api/group", runs=",".join(client.ids.values()), metric="loss")
    assert [one["n"] for one in header["series"]] == [3, 3]


@pytest.mark.parametrize("kind", ["sd", "ci", "range"])
def test_the_band_is_what_it_is_called(kind):
    values = np.random.default_rng(1).normal(size=(5, 7))
    values[1, 2] = math.nan
    mean, low, high, n = band(values, kind)
    for index, column in enumerate(values.T):
        held = column[~np.isnan(column)]
        assert n[index] == len(held)
        assert mean[index] == pytest.approx(held.mean())
        if kind == "sd":
            expected = held.mean() - held.std(ddof=1), held.mean() + held.std(ddof=1)
        elif kind == "ci":
            expected = scipy.stats.t.interval(0.95, len(held) - 1, held.mean(), scipy.stats.sem(held))
        else:
            expected = held.min(), held.max()
        assert (low[index], high[index]) == pytest.approx(expected)


def test_two_runs_are_compared_where_both_are(tmp_path, serving):
    made(tmp_path, "a", losses(np.arange(1, 101)))
    made(tmp_path, "b", losses(np.arange(1, 61) * 2.0, first=41))
    client = serving(tmp_path)
    ids = client.ids
    query = {"a": ids["a"], "b": ids["b"], "metric": "loss"}
    header, (one,) = client.get("/api/compare", **query, most=1000)
    assert header["points"] == 60
    assert one["left"].tolist() == list(range(41, 101))
    assert one["difference"].tolist() == (one["a"] - one["b"]).tolist()
    assert one["a"][0] - one["b"][0] == 41 - 2
    _, (same,) = client.get("/api/compare", a=ids["a"], b=ids["a"], metric="loss", most=7)
    assert (same["difference"] == 0).all()
    assert client.get("/api/compare", a=ids["a"], b=ids["b"], metric="nothing", status=400)["error"]


def test_what_is_not_finite_is_counted_and_never_drawn_as_a_number(tmp_path, serving):
    values = [1.0, math.nan, 2.0, math.inf, -math.inf, 3.0]
    made(tmp_path, "lost", losses(values))
    client = serving(tmp_path)
    header, (one,) = client.get("/api/series", runs=client.ids["lost"], metric="loss", most=1)
    assert header["series"][0]["nonfinite"] == 3
    assert [one[name].tolist() for name in ("low", "high", "count", "nonfinite")] == [[1.0], [3.0], [6], [3]]
    _, (each,) = client.get("/api/series", runs=client.ids["lost"], metric="loss", most=100)
    assert np.isnan(each["first"]).tolist() == [False, True, False, True, True, False]
    assert client.get("/api/collection")["runs"][0]["last"] == {"loss": 3.0}


@pytest.mark.parametrize(
    "query",
    [
        {"most": "0"},
        {"most": "many"},
        {"most": "nan"},
        {"x": "epoch"},
        {"scale": "cubic"},
        {"smooth": "1"},
        {"first": "inf"},
        {"band": "se"},
    ],
)
def test_a_bad_query_says_what_is_allowed(home, serving, query):
    client = serving(home)
    refused = client.get("/api/series", runs=client.ids["same-0"], metric="loss", status=400, **query)
    assert refused["allowed"]
    assert "\n" not in refused["error"]


def test_a_query_without_runs_or_metric_is_refused(home, serving):
    client = serving(home)
    assert "metric" in client.get("/api/series", runs=client.ids["same-0"], status=400)["error"]
    assert "runs" in client.get("/api/series", metric="loss", status=400)["error"]
    assert client.get("/api/series", metric="loss", runs=",", status=400)
    assert client.get("/api/series", metric="loss", runs="unknown", status=404)


def test_several_metrics_are_the_frames_of_each(home, serving):
    client = serving(home)
    asked = {"runs": ",".join(client.ids.values()), "most": "50"}
    for path in ("/api/series", "/api/group"):
        one = [client.http.get(path, params={**asked, "metric": name}).content for name in ("loss", "none")]
        both = client.http.get(path, params={**asked, "metric": ["loss", "none", "loss"]})
        assert both.headers["content-type"] == "application/octet-stream"
        body, found = both.content, []
        while body:
            length = int.from_bytes(body[:8], "little")
            found.append(body[8 : 8 + length])
            body = body[8 + length :]
        assert found == [*one, one[0]]


def test_too_many_metrics_are_refused(home, serving):
    client = serving(home)
    names = [f"m{number}" for number in range(65)]
    answer = client.http.get("/api/series", params={"runs": client.ids["same-0"], "metric": names})
    assert answer.status_code == 400
    assert "64" in answer.json()["allowed"]
