package advisory

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
)

// A Key names one advisory lock of one database.
//
// PostgreSQL has two key spaces which never conflict with each other: that of one bigint ([ID], [Name]) and that of two
// integers ([Pair]). Two keys are the same lock if and only if they are ==, so a Key can be a map's key. Every Key is
// valid; the zero Key is ID(0).
//
// Keys belong to a database: the same key is another lock in another database of the same server. See PostgreSQL's
// documentation, "Advisory Lock Functions".
type Key struct {
	// number is the bigint, or a pair's class in the high half and its object in the low one.
	number int64
	pair   bool
}

// ID returns the key of one bigint, the one that pg_advisory_xact_lock(id) takes.
func ID(id int64) Key { return Key{number: id} }

// Pair returns the key of two integers, the one that pg_advisory_xact_lock(class, object) takes. By convention class says what
// kind of thing is locked (a [Registry] keeps such a table), and object which one.
func Pair(class, object int32) Key {
	return Key{number: int64(class)<<32 | int64(uint32(object)), pair: true}
}

// Name returns the bigint key of a name of one or more parts, such as Name("invoice", "2026", "17").
//
// The key is the first 8 bytes, as a signed big-endian number, of the SHA-256 of all parts, each preceded by its length in
// bytes as a big-endian number of 8 bytes. The lengths keep Name("a", "bc") apart from Name("ab", "c"). This never changes; the
// README has test vectors and the same in SQL, so that programs in other languages can take the same locks.
//
// Of 6 million names in use, two have the same key with a probability of 1 in a million. Name knows no normal form: "é" as
// one code point and as two are different names.
func Name(parts ...string) Key {
	// One buffer, on the stack for names of the usual length: hashing part by part would convert each to a []byte of its own.
	buf := make([]byte, 0, 256)
	for _, part := range parts {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	sum := sha256.Sum256(buf)
	return ID(int64(binary.BigEndian.Uint64(sum[:8])))
}

// Compare returns a negative number if k comes before other in the one order in which locks are taken, zero if they are the same key,
// and a positive number if k comes after. All bigint keys come before all pairs; bigints are ordered by number, pairs by class and then by
// object, all of them signed. Programs which take several locks and keep to this order never deadlock over them.
//
// It has the form that [slices.SortFunc] wants: slices.SortFunc(keys, advisory.Key.Compare).
func (k Key) Compare(other Key) int {
	if k.pair != other.pair {
		if other.pair {
			return -1
		}
		return 1
	}
	return cmp.Compare(k.order(), other.order())
}

// order returns the number by which a key is sorted within its space. A pair's object stands as an unsigned number in the low
// half of the key; with its sign bit flipped the whole number has the pairs' signed order.
func (k Key) order() int64 {
	if k.pair {
		return k.number ^ 1<<31
	}
	return k.number
}

// bigints returns how many bigint keys k is.
func (k Key) bigints() int {
	if k.pair {
		return 0
	}
	return 1
}

func (k Key) class() int32  { return int32(k.number >> 32) }
func (k Key) object() int32 { return int32(k.number) }

// String returns the bigint in decimal, as in "-42", or the pair as "class:object", as in "7:-3". [ParseKey] reads both.
func (k Key) String() string { return string(k.appendText(nil)) }

func (k Key) appendText(b []byte) []byte {
	if !k.pair {
		return strconv.AppendInt(b, k.number, 10)
	}
	b = strconv.AppendInt(b, int64(k.class()), 10)
	b = append(b, ':')
	return strconv.AppendInt(b, int64(k.object()), 10)
}

// ParseKey returns the key of which [Key.String] gave s. It takes a bigint ("-42") or a pair ("7:-3") in decimal, without
// spaces. It does not take names: a name's number is made by [Name].
func ParseKey(s string) (Key, error) {
	class, object, pair := strings.Cut(s, ":")
	if !pair {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return Key{}, parseError(s, err)
		}
		return ID(id), nil
	}
	c, err := strconv.ParseInt(class, 10, 32)
	if err != nil {
		return Key{}, parseError(s, err)
	}
	o, err := strconv.ParseInt(object, 10, 32)
	if err != nil {
		return Key{}, parseError(s, err)
	}
	return Pair(int32(c), int32(o)), nil
}

func parseError(s string, err error) error {
	return fmt.Errorf("advisory: parse key %q: want a bigint such as -42 or a pair of integers such as 7:-3: %w", s, err)
}

// MarshalText implements [encoding.TextMarshaler] with [Key.String]. It never fails.
func (k Key) MarshalText() ([]byte, error) { return k.appendText(nil), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] with [ParseKey].
func (k *Key) UnmarshalText(text []byte) error {
	parsed, err := ParseKey(string(text))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}

// LogValue implements [slog.LogValuer] with [Key.String].
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }
