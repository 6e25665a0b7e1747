/* mdh.h: 8-bit floats for C programs that mdh compiles. It needs nothing but a C99 compiler.

   fp8_e4m3: 4 bits of exponent, 3 of mantissa. Finite numbers up to 448, NaN, no infinities.
   fp8_e5m2: 5 bits of exponent, 2 of mantissa. Finite numbers up to 57344, infinities, NaN.

   Conversions to float are exact. Conversions from float round to the nearest number, ties to even. They
   saturate: what is larger than the largest finite number, an infinity too, becomes that number with its
   sign. NaN stays NaN. CUDA's conversions with __NV_SATFINITE do the same.

   `mdh doctor --include` prints the folder of this file. */
#ifndef MDH_H
#define MDH_H

#include <stdint.h>
#include <string.h>

typedef struct { uint8_t bits; } fp8_e4m3;
typedef struct { uint8_t bits; } fp8_e5m2;

static inline float mdh_float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t mdh_bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float fp8_e4m3_to_float(fp8_e4m3 x)
{
    const uint32_t sign = (uint32_t)(x.bits & 0x80) << 24, rest = x.bits & 0x7f;
    uint32_t bits = (rest << 20) + (120u << 23); /* the exponents' biases are 7 and 127 */
    if (rest < 8) /* denormal: multiples of 2^-9 */
        bits = mdh_bits_of_float((float)rest / 512.0f);
    else if (rest == 0x7f) /* NaN */
        bits |= 0x7f800000u;
    return mdh_float_of_bits(sign | bits);
}

static inline fp8_e4m3 fp8_e4m3_from_float(float x)
{
    const uint32_t bits = mdh_bits_of_float(x), size = bits & 0x7fffffffu;
    uint32_t rest = (size + 0x7ffffu + (size >> 20 & 1) - (120u << 23)) >> 20;
    fp8_e4m3 out;
    if (size > 0x7f800000u) /* NaN */
        rest = 0x7f;
    else if (size >= 0x43e00000u) /* 448 and more */
        rest = 0x7e;
    else if (size < 0x3c800000u) /* denormal: a float of this size is a multiple of 2^-9 */
        rest = mdh_bits_of_float(mdh_float_of_bits(size) + 16384.0f) - 0x46800000u;
    out.bits = (uint8_t)((bits >> 24 & 0x80u) | rest);
    return out;
}

static inline float fp8_e5m2_to_float(fp8_e5m2 x)
{
    const uint32_t sign = (uint32_t)(x.bits & 0x80) << 24, rest = x.bits & 0x7f;
    uint32_t bits = (rest << 21) + (112u << 23); /* the exponents' biases are 15 and 127 */
    if (rest < 4) /* denormal: multiples of 2^-16 */
        bits = mdh_bits_of_float((float)rest / 65536.0f);
    else if (rest >= 0x7c) /* infinity, NaN */
        bits |= 0x7f800000u;
    return mdh_float_of_bits(sign | bits);
}

static inline fp8_e5m2 fp8_e5m2_from_float(float x)
{
    const uint32_t bits = mdh_bits_of_float(x), size = bits & 0x7fffffffu;
    uint32_t rest = (size + 0xfffffu + (size >> 21 & 1) - (112u << 23)) >> 21;
    fp8_e5m2 out;
    if (size > 0x7f800000u) /* NaN */
        rest = 0x7f;
    else if (size >= 0x47600000u) /* 57344 and more */
        rest = 0x7b;
    else if (size < 0x38800000u) /* denormal: a float of this size is a multiple of 2^-16 */
        rest = mdh_bits_of_float(mdh_float_of_bits(size) + 128.0f) - 0x43000000u;
    out.bits = (uint8_t)((bits >> 24 & 0x80u) | rest);
    return out;
}

#endif
