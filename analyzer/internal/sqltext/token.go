package sqltext

// kind is what a token is.
type kind uint8

const (
	word   kind = iota // name or keyword without quotes
	quoted             // "name", `name`, [name]
	str                // string literal, with its quotes and prefix
	number
	param // $1, ?, :name, @name
	punct // operator or punctuation
	hole
)

// token is one token of a text. Comments and white space are none.
type token struct {
	kind       kind
	key        keyword // what a word means as a keyword; none for names
	tainted    bool    // a word that touches a hole, so that it may be part of a longer name
	start, end int     // bytes
	match      int     // for an opening parenthesis or bracket the index of its closing one, or of the end
}

// keyword is a word which the reading of a statement depends on, or which at least is no column's name.
type keyword uint8

const (
	none  keyword = iota
	noise         // means something to the server, nothing here
	kAll
	kAnalyze
	kAnd
	kAs
	kHead // words that head a statement of a procedural language, before an expression
	kBegin
	kBetween
	kBy
	kCall
	kCase
	kConflict
	kCreate
	kCursor
	kDeclare
	kDelete
	kDistinct
	kDo
	kElse
	kEnd
	kException
	kExec
	kExplain
	kFalse
	kFetch
	kFor
	kFrom
	kGo
	kGroup
	kHaving
	kIf
	kIn
	kInsert
	kInto
	kIs
	kJoin // and the words that stand before JOIN
	kKey
	kLanguage
	kLateral
	kLimit
	kLock
	kLoop
	kMerge
	kMode
	kNo
	kNot
	kNull
	kOffset
	kOn
	kOr
	kOrder
	kPerform
	kReturning
	kSelect
	kSet
	kSetOp // UNION, INTERSECT, EXCEPT, MINUS
	kShare
	kTable
	kThen
	kTop
	kTransaction // words that make BEGIN the begin of a transaction
	kTrue
	kUpdate
	kUsing
	kValues
	kWhen
	kWhere
	kWindow
	kWith
)

var keywords = map[string]keyword{
	"all": kAll, "analyse": kAnalyze, "analyze": kAnalyze, "and": kAnd, "as": kAs,
	"assert": kHead, "close": kHead, "continue": kHead, "exit": kHead, "foreach": kHead, "get": kHead,
	"move": kHead, "open": kHead, "raise": kHead, "return": kHead, "until": kHead, "while": kHead,
	"elsif": kHead, "elseif": kHead, "print": kHead, "raiserror": kHead, "throw": kHead,
	"begin": kBegin, "between": kBetween, "by": kBy, "call": kCall, "case": kCase, "conflict": kConflict, "duplicate": kConflict,
	"create": kCreate, "cursor": kCursor, "declare": kDeclare, "delete": kDelete, "distinct": kDistinct, "do": kDo,
	"else": kElse, "end": kEnd, "exception": kException, "exec": kExec, "execute": kExec, "explain": kExplain,
	"false": kFalse, "fetch": kFetch, "for": kFor, "from": kFrom, "go": kGo, "group": kGroup, "having": kHaving, "if": kIf, "in": kIn,
	"insert": kInsert, "replace": kInsert, "into": kInto, "is": kIs,
	"join": kJoin, "left": kJoin, "right": kJoin, "full": kJoin, "inner": kJoin, "outer": kJoin, "cross": kJoin,
	"natural": kJoin, "straight_join": kJoin, "apply": kJoin,
	"key": kKey, "language": kLanguage, "lateral": kLateral, "only": kLateral, "limit": kLimit, "lock": kLock, "loop": kLoop,
	"merge": kMerge, "mode": kMode, "no": kNo, "not": kNot, "null": kNull, "offset": kOffset, "on": kOn, "or": kOr, "order": kOrder,
	"perform": kPerform, "returning": kReturning, "select": kSelect, "set": kSet,
	"union": kSetOp, "intersect": kSetOp, "except": kSetOp, "minus": kSetOp,
	"share": kShare, "table": kTable, "then": kThen, "top": kTop,
	"concurrent": kTransaction, "deferrable": kTransaction, "deferred": kTransaction, "distributed": kTransaction,
	"exclusive": kTransaction, "immediate": kTransaction, "isolation": kTransaction, "read": kTransaction,
	"tran": kTransaction, "transaction": kTransaction, "work": kTransaction,
	"true": kTrue, "update": kUpdate, "using": kUsing, "values": kValues, "when": kWhen, "where": kWhere, "window": kWindow, "with": kWith,
	"any": noise, "array": noise, "asc": noise, "desc": noise, "exists": noise, "ilike": noise, "interval": noise,
	"isnull": noise, "like": noise, "notnull": noise, "recursive": noise, "similar": noise, "some": noise, "tablesample": noise,
}

const longestKeyword = len("straight_join")

// keywordOf returns what a word means, in either case, without allocating.
func keywordOf(text string) keyword {
	if len(text) > longestKeyword {
		return none
	}
	var buf [longestKeyword]byte
	for i := range len(text) {
		buf[i] = lowerByte(text[i])
	}
	return keywords[string(buf[:len(text)])]
}

// reserved reports whether a word cannot be a column's name. Words which head statements or clauses elsewhere (key, mode,
// lock, work …) can.
func (k keyword) reserved() bool {
	switch k {
	case noise, kAll, kAnalyze, kAnd, kAs, kBetween, kBy, kCase, kCreate, kDistinct, kDo, kElse, kEnd, kFalse, kFetch, kFor, kFrom,
		kGroup, kHaving, kIn, kInto, kIs, kJoin, kLateral, kLimit, kNot, kNull, kOffset, kOn, kOr, kOrder, kReturning, kSelect,
		kSetOp, kTable, kThen, kTrue, kUsing, kWhen, kWhere, kWindow, kWith:
		return true
	}
	return false
}
