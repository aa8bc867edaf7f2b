// Command muster runs distributed training jobs.
package main

import (
	"os"

	"muster.dev/muster/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
