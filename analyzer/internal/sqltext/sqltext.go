// Package sqltext tells what SQL a text holds and which lock functions that SQL calls.
//
// It works on text alone: [Parse] for whole statements, [ParseExpr] for the fragments which query builders take,
// [Mentions] to leave out at once what cannot matter. Parts of a text which are not known before the program runs are
// written as [Hole].
//
// There is no grammar of SQL behind it, and no error: a tokenizer knows comments, quotes and dollar quotes of four
// servers, and a reader of query blocks knows clauses, subqueries and CTEs. A text which is no SQL gives no calls. No
// input panics, and all take linear time. Everything here is safe for concurrent use.
//
// Only what the server runs counts. There are no calls in comments and string literals, in the bodies of CREATE FUNCTION,
// PROCEDURE, TRIGGER, RULE and VIEW, in GRANT, DROP, ALTER and COMMENT ON, in PREPARE (it runs nothing; EXECUTE does,
// and its text is not at hand), in EXPLAIN without ANALYZE, and in a CTE which nothing reads (servers do not run it). The
// body of DO runs, and so do anonymous blocks and the constant text of EXECUTE in them. A cursor's query counts where the
// cursor is declared.
package sqltext

// Hole stands in a text for a part which is not known before the program runs.
const Hole = "\x00"
