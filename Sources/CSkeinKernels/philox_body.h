/* AddressedRandom's numbers at one level; included once per level after elementwise_lanes.h. */

/* Philox-4x32-10 (Salmon et al. 2011) of eight counters, twice at a time: each round waits for the
   one before it. A word is in the lower half of a 64-bit lane, which is all that the multiplication
   reads, so what the exclusive ors leave in the upper half needs no clearing. */
INLINE void FN(philox)(u64x8 (*w)[4], uint32_t key0, uint32_t key1) {
    UNROLL for (int round = 0; round < 10; round++) {
        UNROLL for (int j = 0; j < 2; j++) {
            u64x8 p0 = (w[j][0] & 0xffffffff) * 0xd2511f53;
            u64x8 p1 = (w[j][2] & 0xffffffff) * 0xcd9e8d57;
#if SKEIN_ZMM
            /* Otherwise the compiler sees that the last products' upper halves are not needed, and
               uses the full 64-bit multiplication, which is three times as slow. */
            if (round > 7) __asm__("" : "+v"(p0), "+v"(p1));
#endif
            w[j][0] = p1 >> 32 ^ w[j][1] ^ (uint64_t)key0;
            w[j][1] = p1;
            w[j][2] = p0 >> 32 ^ w[j][3] ^ (uint64_t)key1;
            w[j][3] = p0;
        }
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
}
