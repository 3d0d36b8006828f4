// Package handles shows how sqlx, gorm, bun, ent and pgx share one transaction with package advisory: how to reach the *sql.Tx under a
// transaction of theirs, and how they work in one that is given to them. Its tests run each way on a real server, and check that the
// README quotes the code between the lines "// snippet NAME" and "// end" as it stands here.
//
// It is a module of its own, so that importing the library never brings these libraries along.
package handles
