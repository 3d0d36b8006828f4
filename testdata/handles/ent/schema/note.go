// Package schema is what package ent is generated from.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Note is a text. Its edge makes ent use several statements, and a transaction of its own for them, where none is given.
type Note struct{ ent.Schema }

// Fields implements ent.Interface.
func (Note) Fields() []ent.Field {
	return []ent.Field{field.String("text")}
}

// Edges implements ent.Interface.
func (Note) Edges() []ent.Edge {
	return []ent.Edge{edge.To("replies", Note.Type)}
}

// Annotations implements ent.Interface.
func (Note) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "note"}}
}
