package page

import (
	"embed"
	"encoding/ascii85"
	"html"
	"io"
	"strings"
)

//go:embed viewer
var viewerFiles embed.FS

func viewerFile(name string) string {
	text, err := viewerFiles.ReadFile("viewer/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// A Viewer is hdrkit.html, a page without data. A reader gives it logs, and a worker in the browser
// makes the data of a page from them.
type Viewer struct {
	Version string
	// Code is the compiled package internal/viewer/wasm, packed by gzip. Exec is the text of
	// wasm_exec.js of the same version of Go.
	Code []byte
	Exec string
	// Licences is the text of the licences of all modules in Code.
	Licences string
}

// ascii85Of encodes data as ascii85, with v instead of <, which HTML reserves. Ascii85 is a
// sixteenth shorter than base64.
func ascii85Of(data []byte) string {
	text := make([]byte, ascii85.MaxEncodedLen(len(data)))
	text = text[:ascii85.Encode(text, data)]
	return strings.ReplaceAll(string(text), "<", "v")
}

// Write writes the page. Its policy allows it to compile code and to start workers, and forbids all
// connections. The worker and its code are blocks of data, which need no permission.
func (v *Viewer) Write(w io.Writer) error {
	text := func(text string) string { return strings.ReplaceAll(text, "</script", `<\/script`) }
	script := "\n" + joinModules(viewerModules) + compact(viewerFile("viewer.js"))
	style := style() + viewerFile("viewer.css")
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'none'; " +
		"img-src data:; worker-src blob:; style-src " + hashOf(style) +
		"; script-src 'wasm-unsafe-eval' " + hashOf(script)
	blocks := dataBlock("licences", "text/plain", text("\n"+v.Licences)) +
		dataBlock("worker", "text/plain", text(v.Exec+"\n"+compact(viewerFile("worker.js")))) +
		dataBlock("wasm", "text/plain", ascii85Of(v.Code))
	viewer := strings.ReplaceAll(viewerFile("viewer.html"), "{{version}}", html.EscapeString(v.Version))
	return write(w, "hdrkit", policy, style, viewer, script, func() error {
		_, err := io.WriteString(w, blocks)
		return err
	})
}
