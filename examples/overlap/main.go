// Overlap copies a file and prints its SHA-256, with reads, hashing and writes under way at the same time:
// through an mbarrier.Pipeline with byte counts, or through channels.
//
//	go run ./examples/overlap [-via pipeline|channels] [-chunk BYTES] [-stages N] FROM TO
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"muster/mbarrier"
)

func main() {
	via := flag.String("via", "pipeline", "pipeline or channels")
	chunk := flag.Int("chunk", 256<<10, "bytes of a chunk")
	stages := flag.Int("stages", 4, "chunks under way")
	flag.Parse()
	if err := run(*via, *chunk, *stages, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(via string, chunk, stages int, files []string) (err error) {
	how := map[string]func(context.Context, job) ([32]byte, error){"pipeline": viaPipeline, "channels": viaChannels}[via]
	if how == nil || len(files) != 2 || chunk < 1 || chunk > mbarrier.MaxTx || stages < 1 {
		return fmt.Errorf("usage: overlap [-via pipeline|channels] [-chunk 1..%d] [-stages N] FROM TO", mbarrier.MaxTx)
	}
	from, err := os.Open(files[0])
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := os.Create(files[1])
	if err != nil {
		return err
	}
	defer func() {
		if e := to.Close(); err == nil {
			err = e
		}
	}()
	start := time.Now()
	sum, err := how(context.Background(), job{from: from, to: to, size: info.Size(), chunk: chunk, stages: stages})
	if err != nil {
		return err
	}
	fmt.Printf("%x  %s\n", sum, files[0])
	fmt.Fprintf(os.Stderr, "%d bytes in %v\n", info.Size(), time.Since(start))
	return nil
}
