// Package picture draws runs as SVG: what the slots of a ring are and how many bytes are in flight
// over time, the two places of a finding among the steps that lead there, and the phases of an
// mbarrier. A picture needs nothing else: no script, no font, no network. It is light or dark as
// its reader's system is, says in words what it shows, and is the same bytes for the same run.
package picture
