package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

const newestFirst = " ORDER BY created DESC, id DESC"

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, ref string) (run.Run, error) {
	var body []byte
	err := s.retry(ctx, func() (err error) {
		if ref == "" {
			return s.db.QueryRowContext(ctx, "SELECT body FROM runs"+newestFirst+" LIMIT 1").Scan(&body)
		}
		err = s.db.QueryRowContext(ctx, "SELECT body FROM runs WHERE id = ?", ref).Scan(&body)
		if errors.Is(err, sql.ErrNoRows) {
			const q = "SELECT body FROM runs WHERE name = ?" + newestFirst + " LIMIT 1"
			err = s.db.QueryRowContext(ctx, q, ref).Scan(&body)
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return run.Run{}, s.missing(ctx, ref)
	}
	if err != nil {
		return run.Run{}, err
	}
	return store.Decode(body)
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, q run.Query) (run.Page, error) {
	query, args, err := selection(q)
	if err != nil {
		return run.Page{}, err
	}
	var runs []run.Run
	err = s.retry(ctx, func() error {
		runs = nil
		return s.each(ctx, query, args, func(rows *sql.Rows) error {
			var body sql.RawBytes
			if err := rows.Scan(&body); err != nil {
				return err
			}
			r, err := store.Decode(body)
			runs = append(runs, r)
			return err
		})
	})
	if err != nil {
		return run.Page{}, err
	}
	if !q.Active && q.Group == "" { // owners ask for these
		s.tidy(ctx)
	}
	return store.PageOf(runs, q), nil
}

// selection puts q into SQL. It asks for one run more than the page holds, to
// know whether there is another page.
func selection(q run.Query) (string, []any, error) {
	var where []string
	var args []any
	if q.Active {
		where = append(where, "done = 0")
	}
	if q.Name != "" {
		where, args = append(where, "name = ?"), append(args, q.Name)
	}
	if q.Grouped {
		where = append(where, "grp <> ''")
	}
	if q.Group != "" {
		where, args = append(where, "grp = ?"), append(args, q.Group)
	}
	if q.After != "" {
		m, err := store.ParseMark(q.After)
		if err != nil {
			return "", nil, err
		}
		where, args = append(where, "(created, id) < (?, ?)"), append(args, m.Created, m.ID)
	}
	query := "SELECT body FROM runs"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	query += newestFirst
	if q.Limit > 0 {
		query, args = query+" LIMIT ?", append(args, q.Limit+1)
	}
	return query, args, nil
}

// missing is the problem of a ref that no run has.
func (s *Store) missing(ctx context.Context, ref string) error {
	var known []string
	err := s.retry(ctx, func() error {
		known = nil
		const q = "SELECT id, name FROM runs" + newestFirst + " LIMIT ?"
		return s.each(ctx, q, []any{store.Known}, func(rows *sql.Rows) error {
			var id, name string
			err := rows.Scan(&id, &name)
			known = append(known, id)
			if name != "" {
				known = append(known, name)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return store.Missing(ref, known)
}

func (s *Store) each(ctx context.Context, query string, args []any, do func(*sql.Rows) error) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
