package sqltext

// control reads a statement that begins or ends a transaction, or only looks like one.
func (r *reader) control(lo, hi int) {
	next := r.key(lo + 1)
	if lo+1 >= hi {
		next = none
	}
	switch r.st.Verb {
	case "BEGIN":
		switch {
		case r.sqlserver && next != kTransaction: // BEGIN … END, BEGIN TRY
		case r.blockAt(lo):
			r.block(lo, hi)
		default:
			r.st.Control = Begin
		}
	case "START":
		if next == kTransaction {
			r.st.Control = Begin
		} else {
			r.st.Writes = true // START REPLICA
		}
	case "COMMIT", "END":
		switch {
		case r.isWord(lo+1, "prepared"): // somebody else's
			r.st.Writes = true
		case r.sqlserver && r.st.Verb == "END":
		default:
			r.st.Control = Commit
		}
	case "ROLLBACK", "ABORT":
		r.st.Control = Rollback
		for i := lo + 1; i < hi && i < lo+3; i++ {
			switch {
			case r.isWord(i, "prepared"):
				r.st.Control, r.st.Writes = NoControl, true
			case r.isWord(i, "to"):
				r.st.Control = RollbackTo
			}
		}
	case "SAVEPOINT":
		r.st.Control = Savepoint
	case "SAVE":
		if next == kTransaction {
			r.st.Control = Savepoint
		} else {
			r.st.Writes = true
		}
	case "RELEASE":
		r.st.Control = Release
	case "PREPARE":
		if next == kTransaction {
			r.st.Control = Commit
		}
	}
}
