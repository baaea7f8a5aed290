// Command hdrkithtml writes hdrkit.html to standard output. Script release/viewer runs it:
// hdrkithtml VERSION CODE.gz WASM_EXEC.js LICENCES.
package main

import (
	"bufio"
	"log"
	"os"

	"hdrkit/internal/chart/page"
)

func main() {
	log.SetFlags(0)
	var files [3]string
	if len(os.Args) != len(files)+2 {
		log.Fatal("usage: hdrkithtml VERSION CODE.gz WASM_EXEC.js LICENCES")
	}
	for n := range files {
		text, err := os.ReadFile(os.Args[n+2])
		if err != nil {
			log.Fatal(err)
		}
		files[n] = string(text)
	}
	out := bufio.NewWriter(os.Stdout)
	v := page.Viewer{
		Version:  os.Args[1],
		Code:     []byte(files[0]),
		Exec:     files[1],
		Licences: files[2],
	}
	if err := v.Write(out); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
