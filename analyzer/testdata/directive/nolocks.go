package directive

//advisorylint:ignore lostunlock nothing here takes a lock // want `silences no report of lostunlock.*directive`
func nothing() {}
