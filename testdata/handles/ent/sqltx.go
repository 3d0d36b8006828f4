package ent

import (
	"database/sql"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
)

// Unlike the rest of this package this file is written by hand. Generating keeps it.

// snippet ent: a file of your own in the generated package

// SQLTx returns the *sql.Tx under tx.
func (tx *Tx) SQLTx() *sql.Tx {
	under := tx.driver.(*txDriver).tx
	if debug, ok := under.(*dialect.DebugTx); ok {
		under = debug.Tx
	}
	return under.(*entsql.Tx).ExecQuerier.(*sql.Tx)
}

// OnTx returns a client like c, which works in tx and does not end it.
func (c *Client) OnTx(tx *sql.Tx) *Client {
	on := &Client{config: c.config}
	on.driver = &txDriver{drv: c.driver, tx: &entsql.Tx{Conn: entsql.Conn{ExecQuerier: tx}, Tx: tx}}
	on.init()
	return on
}

// end
