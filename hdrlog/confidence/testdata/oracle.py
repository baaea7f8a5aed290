# Writes oracle.json: what numpy, scipy and statsmodels compute for fixed runs. Everything comes from
# raw values by brute force, by the formulas in the documentation of the package.
#
#   python3 -m venv v && v/bin/pip install numpy scipy statsmodels && v/bin/python oracle.py > oracle.json
import json, math
import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests


def windows(seed, n, correlation, deviation, empty=0):
    """Values of windows, all below 2048, so that each has a slot of its own with 3 digits."""
    r = np.random.default_rng(seed)
    level, all = 0.0, []
    for i in range(n):
        level = correlation * level + deviation * r.normal()
        k = 0 if empty and i % empty == 0 else int(r.poisson(40 * math.exp(-level)))
        values = 200 * np.exp(level + 0.4 * r.normal(size=k))
        all.append([int(v) for v in np.clip(values, 1, 2047)])
    return all


def deviation(r):
    n = len(r)
    i = np.arange(1, n + 1)
    l = [math.sqrt(2 / n) * np.sum(r * np.cos(math.pi * j * (i - 0.5) / n)) for j in range(1, 9)]
    return math.sqrt(n * np.mean(np.square(l)) + np.max(np.square(r)))


def time(r):
    c = lambda k: float(np.sum(r[k:] * r[: len(r) - k]))
    total, k = 0.0, 0
    while k + 1 < len(r):
        pair = c(k) + c(k + 1)
        if pair <= 0:
            break
        total, k = total + pair, k + 2
    return max(2 * total / c(0) - 1, 1) if c(0) > 0 else 1


def residuals(of, to):
    of, to = np.array(of, float), np.array(to, float)
    return of - of.sum() / to.sum() * to


def figure(value, r, low, high):
    return {"value": value, "deviation": deviation(r), "time": time(r), "low": low, "high": high}


def run(all, level=95):
    values = sorted(v for w in all for v in w)
    total, n = len(values), [len(w) for w in all]
    t = stats.t.ppf(0.5 + level / 200, 8)
    result = {"windows": all, "percentiles": []}
    for p in (1, 25, 50, 90, 99, 99.9):
        v = values[math.ceil(p / 100 * total - 1e-9) - 1]
        upto = lambda x: [sum(1 for y in w if y <= x) for w in all]
        r = residuals(upto(v), n)
        h = t * deviation(r)
        if p / 100 * total - h > sum(upto(v - 1)):
            h = max(h, t * deviation(residuals(upto(v - 1), n)))
        low, high = math.floor(p / 100 * total - h), math.ceil(p / 100 * total + h)
        f = figure(v, r, values[low - 1] if low >= 1 else None, values[high - 1] if high <= total else None)
        f["percentile"] = p
        result["percentiles"].append(f)
    rate, r = total / len(all), residuals(n, [1] * len(all))
    result["rate"] = figure(rate, r, rate - t * deviation(r) / len(all), rate + t * deviation(r) / len(all))
    return result


def welch(before, after):
    a, b = np.log(before), np.log(after)
    test = stats.ttest_ind(b, a, equal_var=False)
    i = test.confidence_interval(0.95)
    return {"before": before, "after": after, "ratio": math.exp(b.mean() - a.mean()), "low": math.exp(i.low), "high": math.exp(i.high), "p": float(test.pvalue)}


def hochberg(p):
    return {"p": p, "significant": [bool(x) for x in multipletests(p, alpha=0.05, method="simes-hochberg")[0]]}


json.dump({
    "runs": [run(windows(1, 120, 0, 0.2)), run(windows(2, 200, 0.8, 0.1)), run(windows(3, 150, 0.3, 0.2, empty=4))],
    "welch": [welch([14.1, 13.2, 15.0], [16.0, 17.5, 16.1]), welch([100, 101, 99, 103, 100.5], [100.2, 99, 104, 101]), welch([5, 9, 7.5, 6.1, 8], [4, 4.1, 3.9])],
    "hochberg": [hochberg([0.001, 0.02, 0.04, 0.6]), hochberg([0.04, 0.0125, 0.011, 0.026]), hochberg([0.06, 0.7]), hochberg([0.012, 0.013, 0.024, 0.05]), hochberg([0.03, 0.049, 0.02]), hochberg([0.03, 0.051, 0.024])],
    "quantiles": [{"level": l, "freedom": f, "t": float(stats.t.ppf(0.5 + l / 200, f))} for l in (50, 90, 95, 99, 99.99) for f in (1.7, 4, 8, 30)],
}, __import__("sys").stdout, separators=(",", ":"))
