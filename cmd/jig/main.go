// Command jig is an agent harness for the terminal.
package main

import (
	"os"

	"jig/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args)) }
