package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, runs ...run.Run) error {
	bodies := make([][]byte, len(runs))
	for i, r := range runs {
		if err := store.CheckNew(r); err != nil {
			return err
		}
		var err error
		if bodies[i], err = store.Encode(r); err != nil {
			return err
		}
	}
	return s.retry(ctx, func() error {
		return s.transact(ctx, always, func(tx *sql.Tx) error {
			for i, r := range runs {
				if err := insert(ctx, tx, r, bodies[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func insert(ctx context.Context, tx *sql.Tx, r run.Run, body []byte) error {
	n, err := affected(tx.ExecContext(ctx,
		`INSERT INTO runs (id, name, grp, created, done, rev, fence, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		r.ID, r.Spec.Name, store.GroupOf(r), r.Created.UnixNano(), r.Done(), r.Rev, r.Fence, body))
	if err == nil && n == 0 {
		return store.Taken(r.ID)
	}
	return err
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, id string, change func(*run.Run) error) (run.Run, error) {
	c, err := s.update(ctx, id, change)
	if errors.Is(err, sql.ErrNoRows) {
		err = s.missing(ctx, id)
	}
	return c.After, err
}

func (s *Store) update(ctx context.Context, id string, change func(*run.Run) error) (c store.Change, err error) {
	err = s.retry(ctx, func() error {
		return s.transact(ctx, func() bool { return c.Ends() }, func(tx *sql.Tx) error {
			var body []byte
			if err := tx.QueryRowContext(ctx, "SELECT body FROM runs WHERE id = ?", id).Scan(&body); err != nil {
				return err
			}
			if c, err = store.Apply(body, change); err != nil || !c.Changed() {
				return err
			}
			return save(ctx, tx, c)
		})
	})
	if err != nil {
		return store.Change{}, err
	}
	return c, nil
}

// UpdateActive implements store.Store.
func (s *Store) UpdateActive(ctx context.Context, change func([]*run.Run) ([]*run.Run, error)) error {
	return s.retry(ctx, func() error {
		return s.transact(ctx, never, func(tx *sql.Tx) error {
			bodies, err := activeBodies(ctx, tx)
			if err != nil {
				return err
			}
			changed, err := store.ApplyAll(bodies, change) // none of which ends
			if err != nil {
				return err
			}
			for _, c := range changed {
				if err := save(ctx, tx, c); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func activeBodies(ctx context.Context, tx *sql.Tx) ([][]byte, error) {
	rows, err := tx.QueryContext(ctx, "SELECT body FROM runs WHERE done = 0 ORDER BY created, id")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var bodies [][]byte
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	return bodies, rows.Err()
}

// save leaves the columns that have not changed alone: naming them would
// rewrite their indexes.
func save(ctx context.Context, tx *sql.Tx, c store.Change) error {
	r := c.After
	_, err := tx.ExecContext(ctx, "UPDATE runs SET rev = ?, fence = ?, body = ? WHERE id = ?", r.Rev, r.Fence, c.Body, r.ID)
	if err == nil && (r.Done() != c.Before.Done() || r.Spec.Name != c.Before.Spec.Name) {
		_, err = tx.ExecContext(ctx, "UPDATE runs SET name = ?, done = ? WHERE id = ?", r.Spec.Name, r.Done(), r.ID)
	}
	return err
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.retry(ctx, func() error {
		return s.transact(ctx, never, func(tx *sql.Tx) error {
			n, err := affected(tx.ExecContext(ctx, "DELETE FROM runs WHERE id = ?", id))
			if err == nil && n == 0 {
				return sql.ErrNoRows
			}
			return err
		})
	})
	if errors.Is(err, sql.ErrNoRows) {
		return s.missing(ctx, id)
	}
	if err == nil {
		s.tidy(ctx)
	}
	return err
}

// Whether a commit has to outlive the machine, asked when it is made.
func always() bool { return true }
func never() bool  { return false }

// transact runs do in one transaction that is the only writer from its
// beginning on, and commits it.
func (s *Store) transact(ctx context.Context, durable func() bool, do func(*sql.Tx) error) error {
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return s.settle(ctx, c, durable())
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
