// The elementary functions in binary128 (113 bits), for the few arguments that binary64 cannot round: plain series with
// a relative error below 2^-90. No binary32 argument of these functions lies closer than about 2^-62 to a midpoint
// (random bits: 2^-24 for the mantissa, 2^-32 for the number of arguments, some luck), and elementary_exhaustive proves
// the results. Compiled once for the baseline, in software arithmetic: microseconds a call.
#pragma once

namespace lastbit::numerics::binary128 {

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Real;  // x86-64: long double has 64 bits there
#else
using Real = long double;  // AArch64: IEEE binary128
#endif

Real exp(Real x);  // |x| <= 2^14
Real log(Real x);  // x > 0
Real tanh(Real x);
Real erf(Real x);  // |x| <= 5

/// sin(x + quarter_turns pi/2), exact reduction for every finite binary32 number.
Real sine(float x, int quarter_turns);

/// x = (4 k + quadrant) pi/2 + r for an integer k, |r| <= pi/4; r carries a relative error below 2^-90.
struct QuarterTurns {
  int quadrant;
  Real r;
};
QuarterTurns reduce_to_quarter_turns(float x);

}  // namespace lastbit::numerics::binary128
