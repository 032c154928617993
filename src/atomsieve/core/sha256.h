/* SHA-256 (FIPS 180-4) block by block, with a state that can be kept and sent elsewhere: hashlib shows its own to nobody. */
#ifndef ATOMSIEVE_SHA256_H
#define ATOMSIEVE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA_BLOCK 64 /* bytes */

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t sha_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

/* Take some blocks into the eight words of the state. */
static void sha256_of(const unsigned char *bytes, ptrdiff_t blocks, uint32_t *state)
{
    uint32_t w[64];
    for (ptrdiff_t k = 0; k < blocks; k++, bytes += SHA_BLOCK) {
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 |
                   (uint32_t)bytes[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            uint32_t early = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t late = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + early + w[i - 7] + late;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i++) {
            uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
            uint32_t from = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + sha_constant[i] + w[i];
            uint32_t to = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority;
            h = g, g = f, f = e, e = d + from;
            d = c, c = b, b = a, a = from + to;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

#endif
