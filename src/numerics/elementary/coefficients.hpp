// Made by scripts/elementary_coefficients.py: polynomials of the elementary functions, constant term first.
// The error is that of the approximation, with coefficients already rounded to binary64.
#pragma once

// clang-format off
namespace lastbit::numerics::coefficients {

// (e^r - 1) / r, relative.
// Interval [-0.34657359, 0.34657359], error at most 2^-43.553.
constexpr double kExponentialMinusOne[] = {
    0x1.fffffffffff9dp-1,
    0x1.fffffffff736ap-2,
    0x1.555555556d72dp-3,
    0x1.55555573f3569p-5,
    0x1.111110d933736p-7,
    0x1.6c164e63b746ep-10,
    0x1.a01a8d51dd9cbp-13,
    0x1.a159caf9c0630p-16,
    0x1.71de2b1d97b6ep-19,
};

// log(1 + f) / f, relative.
// Interval [-0.29289417, 0.41421452], error at most 2^-46.378.
constexpr double kLogarithm[] = {
    0x1.fffffffffffddp-1,
    -0x1.0000000001174p-1,
    0x1.555555556b628p-2,
    -0x1.fffffff968073p-3,
    0x1.99999971df298p-3,
    -0x1.55555828ce778p-3,
    0x1.24925783ec58cp-3,
    -0x1.fffef75925536p-4,
    0x1.c71739f876578p-4,
    -0x1.99b0bba761b8dp-4,
    0x1.74e094b40ceb0p-4,
    -0x1.547570480faf9p-4,
    0x1.34112e61e85d8p-4,
    -0x1.24c9f9c39f1c2p-4,
    0x1.3fbc74c4537bcp-4,
    -0x1.343d5de3a0870p-4,
    0x1.2a41d7114e563p-5,
};

// Q(x) = -log(erfc(x)) / x; the weight x erfc(x) / erf(x) makes the error that of erf, relative.
// Interval [0.0, 4.0], error at most 2^-45.26.
constexpr double kErrorFunctionExponent[] = {
    0x1.20dd750429be5p+0,
    0x1.45f306dc8cda2p-1,
    0x1.a4f4e2b7144bbp-4,
    -0x1.39668b42e7c36p-6,
    -0x1.b69d74f265608p-13,
    0x1.bc95e872b8347p-10,
    -0x1.34f34703e8039p-11,
    0x1.908cf2f628911p-16,
    0x1.1c88af3d9af3fp-14,
    -0x1.1b0c36d39002ep-15,
    0x1.cc77c169f5100p-18,
    0x1.acaf8f52c4450p-21,
    -0x1.1c96ffc8d38a8p-20,
    0x1.9defcb08d160dp-22,
    -0x1.644d685e498a4p-24,
    0x1.81f9ac2fb0aaep-27,
    -0x1.e98a6951c7e85p-31,
    0x1.16b4b7503b00cp-35,
};

// (sin(r) / r - 1) / r^2 as a polynomial in z = r^2; the error is that of sin(r), relative.
// Interval [0.0, 0.61685177], error at most 2^-47.506.
constexpr double kSine[] = {
    -0x1.5555555552239p-3,
    0x1.1111110c87339p-7,
    -0x1.a019f93966a48p-13,
    0x1.71d76d146f82fp-19,
    -0x1.a961a08e96ad0p-26,
};

// (cos(r) - 1 + r^2 / 2) / r^4 as a polynomial in z = r^2; the error is that of cos(r), relative.
// Interval [0.0, 0.61685177], error at most 2^-53.254.
constexpr double kCosine[] = {
    0x1.5555555552ddbp-5,
    -0x1.6c16c16721118p-10,
    0x1.a019fa5ffb538p-16,
    -0x1.27e00b9068340p-22,
    0x1.1bbe8de501748p-29,
};

}  // namespace lastbit::numerics::coefficients
