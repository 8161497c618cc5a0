#!/usr/bin/env python3
"""Derives the polynomials of src/numerics/elementary/coefficients.hpp and the bounds that its comments state.

Each polynomial is the weighted minimax approximation (Remez exchange, 60 decimal digits, mpmath) of a function on an
interval; its coefficients are then rounded to binary64. The printed bound is the largest weighted error of the rounded
polynomial on a grid that is 64 times finer than the distance of its extrema, so it is the error of approximation alone;
the rounding errors of the evaluation are added by hand in the comments.

Usage: elementary_coefficients.py > src/numerics/elementary/coefficients.hpp   (needs the Python package mpmath)
"""

import mpmath as mp

mp.mp.dps = 60


def grid(low, high, count):
    """Chebyshev points: dense near the ends, where the error of a minimax polynomial has its outer extrema."""
    return [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * i / (count - 1)) for i in range(count - 1, -1, -1)]


def horner(coefficients, x):
    result = mp.mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def remez(function, weight, low, high, degree):
    """Coefficients (constant first) of the polynomial P that minimises max |weight * (P - function)| on [low, high]."""
    low, high = mp.mpf(low), mp.mpf(high)
    points = grid(low, high, degree + 2)
    sample = grid(low, high, 64 * (degree + 2))
    values = [function(x) for x in sample]
    weights = [weight(x) for x in sample]
    for _ in range(30):
        matrix = mp.matrix(degree + 2, degree + 2)
        right = mp.matrix(degree + 2, 1)
        for row, x in enumerate(points):
            for column in range(degree + 1):
                matrix[row, column] = x**column
            matrix[row, degree + 1] = (-1) ** row / weight(x)
            right[row] = function(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        levelled = abs(solution[degree + 1])
        errors = [w * (horner(coefficients, x) - v) for x, v, w in zip(sample, values, weights)]
        extrema = alternation(sample, errors, degree + 2)
        if len(extrema) < degree + 2:
            raise RuntimeError("the exchange lost an extremum")
        points = [x for x, _ in extrema]
        if max(abs(e) for _, e in extrema) < levelled * mp.mpf("1.001"):
            return coefficients
    raise RuntimeError("no convergence")


def alternation(sample, errors, count):
    """The largest error of each run of one sign, cut to `count` neighbours by dropping the smaller end."""
    runs = []
    for x, e in zip(sample, errors):
        if runs and (runs[-1][1] > 0) == (e > 0):
            if abs(e) > abs(runs[-1][1]):
                runs[-1] = (x, e)
        else:
            runs.append((x, e))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return runs


def emit(name, comment, function, weight, low, high, degree):
    coefficients = [mp.mpf(float(c)) for c in remez(function, weight, low, high, degree)]
    error = max(abs(weight(x) * (horner(coefficients, x) - function(x)))
                for x in grid(mp.mpf(low), mp.mpf(high), 64 * (degree + 2)))
    print(f"// {comment}")
    interval = f"[{mp.nstr(mp.mpf(low), 8)}, {mp.nstr(mp.mpf(high), 8)}]"
    print(f"// Interval {interval}, error at most 2^{mp.nstr(mp.log(error, 2), 5)}.")
    print(f"constexpr double {name}[] = {{")
    for c in coefficients:
        print(f"    {float(c).hex()},")
    print("};\n")


def erfc_exponent(x):
    """-log(erfc(x)) / x"""
    if x == 0:
        return 2 / mp.sqrt(mp.pi)
    return -mp.log(mp.erfc(x)) / x


def main():
    print("// Made by scripts/elementary_coefficients.py: polynomials of the elementary functions, constant term first.")
    print("// The error is that of the approximation, with coefficients already rounded to binary64.")
    print("#pragma once\n")
    print("// clang-format off")
    print("namespace lastbit::numerics::coefficients {\n")
    # |r| <= ln(2) / 2, a little more because the multiple of ln 2 is chosen in binary64.
    half = mp.log(2) / 2 * (1 + mp.mpf(2) ** -30)
    emit("kExponentialMinusOne", "(e^r - 1) / r, relative.",
         lambda r: mp.expm1(r) / r if r else mp.mpf(1),
         lambda r: r / mp.expm1(r) if r else mp.mpf(1), -half, half, 8)
    low, high = mp.sqrt(0.5) - 1 - mp.mpf(2) ** -20, mp.sqrt(2) - 1 + mp.mpf(2) ** -20
    emit("kLogarithm", "log(1 + f) / f, relative.",
         lambda f: mp.log1p(f) / f if f else mp.mpf(1),
         lambda f: f / mp.log1p(f) if f else mp.mpf(1), low, high, 16)
    emit("kErrorFunctionExponent",
         "Q(x) = -log(erfc(x)) / x; the weight x erfc(x) / erf(x) makes the error that of erf, relative.",
         erfc_exponent,
         lambda x: x * mp.erfc(x) / mp.erf(x) if x else mp.sqrt(mp.pi) / 2, 0, 4, 17)
    quarter = mp.pi / 4 + mp.mpf(2) ** -20
    emit("kSine", "(sin(r) / r - 1) / r^2 as a polynomial in z = r^2; the error is that of sin(r), relative.",
         lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z if z else -mp.mpf(1) / 6,
         lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)) if z else mp.mpf(10) ** -30, 0, quarter**2, 4)
    emit("kCosine", "(cos(r) - 1 + r^2 / 2) / r^4 as a polynomial in z = r^2; the error is that of cos(r), relative.",
         lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z else mp.mpf(1) / 24,
         lambda z: z**2 / mp.cos(mp.sqrt(z)) if z else mp.mpf(10) ** -30, 0, quarter**2, 4)
    print("}  // namespace lastbit::numerics::coefficients")


main()
