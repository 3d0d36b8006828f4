// Package testdata holds programs that use the libraries which advisorylint
// knows, with what it has to report in them. It is a module of its own, so
// that importing the library never brings these libraries along. Programs with
// database/sql and pgx alone are in analyzer/testdata.
package testdata
