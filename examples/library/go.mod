module example.com/audit

go 1.26.0

require muster v0.0.0

replace muster => ../..
