"""Decimal digits to the nearest float in integer arithmetic, by the method of Eisel and Lemire (Lemire 2021, "Number
parsing at a gigabyte per second"). What it cannot decide is left to Python's `float`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tukeydp.compiled_code import compiled

# Powers of ten whose product with a 19-digit integer may be a float at all.
LEAST, MOST = -342, 308


def _table() -> NDArray[np.uint64]:
    """The upper 128 bits of 5^q for each power q, as two words; rounded up for negative q, cut off for others."""
    words = np.empty((MOST - LEAST + 1, 2), dtype=np.uint64)
    for q in range(LEAST, MOST + 1):
        if q < 0:
            five = 5**-q
            bits = (five - 1).bit_length()
            value = 2 ** (bits + 127 if q >= -27 else 2 * bits + 128) // five + 1
        else:
            value = 5**q << 128
        value >>= max(0, value.bit_length() - 128)
        words[q - LEAST] = value >> 64, value & (2**64 - 1)
    return words


_POWERS = _table()
_ONE = np.uint64(1)
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)


@compiled(inline="always")
def _product(a, b):  # type: ignore[no-untyped-def]
    """The upper and the lower word of a product of two words."""
    low = (a & _LOW) * (b & _LOW)
    first = (a >> _HALF) * (b & _LOW) + (low >> _HALF)
    second = (a & _LOW) * (b >> _HALF) + (first & _LOW)
    return (a >> _HALF) * (b >> _HALF) + (first >> _HALF) + (second >> _HALF), (second << _HALF) | (low & _LOW)


@compiled
def _leading_zeros(word):  # type: ignore[no-untyped-def]
    count = 0
    step = 32
    while step:
        if not word >> np.uint64(64 - step):
            word <<= np.uint64(step)
            count += step
        step >>= 1
    return count


@compiled
def nearest_float(digits, power):  # type: ignore[no-untyped-def]
    """The bits of the float nearest to digits * 10^power, for a positive word `digits`; and whether that is decided."""
    if power < LEAST or power > MOST:
        return np.uint64(0), False
    zeros = _leading_zeros(digits)
    word = digits << np.uint64(zeros)
    high, low = _product(word, _POWERS[power - LEAST, 0])
    # 55 bits are wanted, one of them for rounding; where the 9 below are all ones, a carry may still come.
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more = _product(word, _POWERS[power - LEAST, 1])[0]
        low += more
        if low < more:
            high += _ONE
    if low == ~np.uint64(0) and (power < -27 or power > 55):
        return np.uint64(0), False
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - zeros + 1023  # 217706 / 2^16 = log2(10)
    if exponent <= 0 or exponent >= 2046:  # subnormal, or near the end of the floats
        return np.uint64(0), False
    # Exactly half way, which only these powers can be: to even.
    halfway = low <= _ONE and -4 <= power <= 23 and mantissa & np.uint64(3) == _ONE
    if halfway and (mantissa << shift) == high:
        mantissa &= ~_ONE
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa >> np.uint64(53):
        mantissa = _ONE << np.uint64(52)
        exponent += 1
    return (mantissa & ~(_ONE << np.uint64(52))) | (np.uint64(exponent) << np.uint64(52)), True
