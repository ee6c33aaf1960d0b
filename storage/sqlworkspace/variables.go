package sqlworkspace

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/workspace"
)

// Variables implements workspace.Store.
func (s *Store) Variables(ctx context.Context, ref workspace.Ref) (all workspace.Variables, err error) {
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) (err error) {
		all = workspace.Variables{}
		if ref.Name == "" {
			all.Revision, err = organizationRevision(q, ref.Org)
		} else {
			var w workspace.Workspace
			w, err = mustFind(q, ref)
			all.Revision = w.Revision
		}
		if err == nil && ref.Name != "" {
			all.Own, err = variablesOf(q, ref)
		}
		if err == nil {
			all.Organizations, err = variablesOf(q, workspace.Ref{Org: ref.Org})
		}
		return err
	})
	return all, err
}

func organizationRevision(q sqldb.Querier, org uuid.UUID) (n int64, err error) {
	_, err = sqldb.One(q, []any{&n}, "SELECT revision FROM organization_variables WHERE org = ?", org.String())
	return n, err
}

// variablesOf returns those of a workspace itself, or the organization's. They are sorted here:
// databases compare names in ways of their own.
func variablesOf(q sqldb.Querier, ref workspace.Ref) ([]workspace.Variable, error) {
	all, err := sqldb.All(q, scanVariable,
		"SELECT kind, name, hcl, secret, size, sealed, updated_at, updated_by FROM variables WHERE org = ? AND workspace = ?",
		ref.Org.String(), string(ref.Name))
	slices.SortFunc(all, func(a, b workspace.Variable) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return all, err
}

func scanVariable(rows *sql.Rows) (v workspace.Variable, err error) {
	var at int64
	var by string
	if err := rows.Scan(&v.Kind, &v.Name, &v.HCL, &v.Sensitive, &v.Size, &v.Sealed, &at, &by); err != nil {
		return v, err
	}
	v.UpdatedAt = timeOf(at)
	return v, parse(by, &v.UpdatedBy)
}

// setVariables changes variables, and counts that as one change.
func setVariables(tx sqldb.Tx, ref workspace.Ref, change workspace.Change) error {
	if len(change.Set) == 0 && len(change.Unset) == 0 {
		return nil
	}
	upsert := tx.Dialect().Upsert("variables", []string{"org", "workspace", "kind", "name"},
		[]string{"hcl", "secret", "size", "sealed", "updated_at", "updated_by"})
	for _, v := range change.Set {
		by, err := text(v.UpdatedBy)
		if err != nil {
			return err
		}
		_, err = tx.Exec(upsert, ref.Org.String(), string(ref.Name), string(v.Kind), v.Name, v.HCL, v.Sensitive, v.Size,
			v.Sealed, v.UpdatedAt.UnixMicro(), by)
		if err != nil {
			return err
		}
	}
	for _, k := range change.Unset {
		_, err := tx.Exec("DELETE FROM variables WHERE org = ? AND workspace = ? AND kind = ? AND name = ?", ref.Org.String(),
			string(ref.Name), string(k.Kind), k.Name)
		if err != nil {
			return err
		}
	}
	return countChange(tx, ref, change.Touched)
}

func countChange(tx sqldb.Tx, ref workspace.Ref, touched *workspace.Touched) error {
	if ref.Name == "" {
		if _, err := sqldb.Insert(tx, "INSERT INTO organization_variables (org, revision) VALUES (?, 0)",
			ref.Org.String()); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE organization_variables SET revision = revision + 1 WHERE org = ?", ref.Org.String())
		return err
	}
	by, err := text(touched.By)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE workspaces SET revision = revision + 1, updated_at = ?, updated_by = ? WHERE org = ? "+
		"AND name = ?",
		touched.At.UnixMicro(), by, ref.Org.String(), string(ref.Name))
	return err
}
