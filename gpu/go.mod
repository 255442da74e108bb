module muster/gpu

go 1.26.0

require (
	github.com/ebitengine/purego v0.11.3
	muster v0.0.0
)

require github.com/goccy/go-yaml v1.19.2 // indirect

replace muster => ../
