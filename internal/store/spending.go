package store

import (
	"context"
	"time"

	"jig/internal/money"
	"jig/internal/msg"
)

// Spending is what was spent in a quarter of an hour by one agent with one model.
type Spending struct {
	At                     time.Time // when the quarter began
	Agent, Provider, Model string
	Requests               int
	Usage                  msg.Usage
	Cost                   money.Amount
	Estimated              bool // a part of the cost was worked out from sizes
}

// Spent gives what was spent from one time on and before another, oldest first. A zero time is no
// bound.
func (d *DB) Spent(from, before time.Time) ([]Spending, error) {
	last := int64(1) << 62
	if !before.IsZero() {
		last = before.UnixMilli()
	}
	first := int64(-1) << 62
	if !from.IsZero() {
		first = from.UnixMilli()
	}
	rows, err := d.pool.QueryContext(context.Background(), `SELECT slot, agent, provider, model, requests, input, output, cache_read, cache_write, cost, estimated
		FROM usage WHERE slot >= ? AND slot < ? ORDER BY slot, agent, provider, model`, first, last)
	if err != nil {
		return nil, d.explain(err)
	}
	defer func() { _ = rows.Close() }()
	var out []Spending
	for rows.Next() {
		var s Spending
		var at, cost int64
		if err := rows.Scan(&at, &s.Agent, &s.Provider, &s.Model, &s.Requests, &s.Usage.Input, &s.Usage.Output, &s.Usage.CacheRead, &s.Usage.CacheWrite, &cost, &s.Estimated); err != nil {
			return nil, d.explain(err)
		}
		s.At, s.Cost = time.UnixMilli(at), money.Amount(cost)
		out = append(out, s)
	}
	return out, d.explain(rows.Err())
}
