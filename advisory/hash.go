package advisory

import "math/bits"

// HashText returns what the server's function hashtext(s) returns, bit for bit, so that Go code can take the locks of SQL such as
// pg_advisory_xact_lock(hashtext('…')) or pg_advisory_lock(7, hashtext('…')). PostgreSQL does not document the function, and has
// not changed it in the versions 14 to 18.
//
// The result has only 32 bits: of 9,300 texts in use two collide with a probability of 1 %, of 77,000 with one of 50 %. Prefer
// [Name] where no SQL has to agree.
//
// s is hashed as the bytes of UTF-8, as a database in UTF-8 does; databases in other encodings, and nondeterministic collations, hash other bytes.
func HashText(s string) int32 {
	_, c := hashBytes(s, 0)
	return int32(c)
}

// HashTextExtended returns what the server's function hashtextextended(s, seed) returns, bit for bit, for locks of SQL such as
// pg_advisory_xact_lock(hashtextextended('…', 0)). Its low 32 bits with seed 0 are [HashText]; the notes there apply.
func HashTextExtended(s string, seed int64) int64 {
	b, c := hashBytes(s, uint64(seed))
	return int64(uint64(b)<<32 | uint64(c))
}

// hashBytes is hash_bytes_extended of PostgreSQL's src/common/hashfn.c, which is lookup3 by Bob Jenkins, as it computes on a little-endian machine.
func hashBytes(s string, seed uint64) (b32, c32 uint32) {
	a := 0x9e3779b9 + uint32(len(s)) + 3923095
	b, c := a, a
	if seed != 0 {
		a += uint32(seed >> 32)
		b += uint32(seed)
		a, b, c = mix(a, b, c)
	}
	for len(s) >= 12 {
		a += word(s)
		b += word(s[4:])
		c += word(s[8:])
		a, b, c = mix(a, b, c)
		s = s[12:]
	}
	// The last 11 bytes at most. The lowest byte of c stands for the length, and so takes no byte of s.
	for i := len(s) - 1; i >= 0; i-- {
		switch x := uint32(s[i]); {
		case i >= 8:
			c += x << (8 * (i - 7))
		case i >= 4:
			b += x << (8 * (i - 4))
		default:
			a += x << (8 * i)
		}
	}
	return final(a, b, c)
}

func word(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a -= c
	a ^= bits.RotateLeft32(c, 4)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 6)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 8)
	b += a
	a -= c
	a ^= bits.RotateLeft32(c, 16)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 19)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func final(a, b, c uint32) (uint32, uint32) {
	c ^= b
	c -= bits.RotateLeft32(b, 14)
	a ^= c
	a -= bits.RotateLeft32(c, 11)
	b ^= a
	b -= bits.RotateLeft32(a, 25)
	c ^= b
	c -= bits.RotateLeft32(b, 16)
	a ^= c
	a -= bits.RotateLeft32(c, 4)
	b ^= a
	b -= bits.RotateLeft32(a, 14)
	c ^= b
	c -= bits.RotateLeft32(b, 24)
	return b, c
}
