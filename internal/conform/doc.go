// Package conform has tests that hold what muster writes to what others publish: SARIF to the
// OASIS schema and to the limits of GitHub, JSON to docs/report.schema.json, the action and the
// hook to the rules of GitHub and of pre-commit.
package conform
