// Package answer has what the command and the server for agents say alike: how a run ended,
// a finding shown again, a launch made smaller.
package answer
