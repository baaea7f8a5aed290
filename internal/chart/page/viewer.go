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

// A Viewer is a page without data, hdrkit.html: it takes logs, and a worker makes their pages.
type Viewer struct {
	Version string
	// Code is that of package internal/viewer/wasm, packed by gzip, and Exec is the wasm_exec.js of
	// the same version of Go.
	Code []byte
	Exec string
	// Licences are those of the modules in the code.
	Licences string
}

// ascii85Of returns data as ascii85, which takes a sixteenth less than base64, with v for <.
func ascii85Of(data []byte) string {
	text := make([]byte, ascii85.MaxEncodedLen(len(data)))
	text = text[:ascii85.Encode(text, data)]
	return strings.ReplaceAll(string(text), "<", "v")
}

// Write writes the page. It may compile code and start workers, and connect to nothing. Of the code
// only the script is for the page itself, the rest are blocks that need no permission.
func (v *Viewer) Write(w io.Writer) error {
	text := func(text string) string { return strings.ReplaceAll(text, "</script", `<\/script`) }
	script := "\n" + joined(shownLater) + plain(viewerFile("viewer.js"))
	style := style() + viewerFile("viewer.css")
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'none'; " +
		"img-src data:; worker-src blob:; style-src " + hashOf(style) +
		"; script-src 'wasm-unsafe-eval' " + hashOf(script)
	blocks := block("licences", "text/plain", text("\n"+v.Licences)) +
		block("worker", "text/plain", text(v.Exec+"\n"+plain(viewerFile("worker.js")))) +
		block("wasm", "text/plain", ascii85Of(v.Code))
	viewer := strings.ReplaceAll(viewerFile("viewer.html"), "{{version}}", html.EscapeString(v.Version))
	return write(w, "hdrkit", policy, style, viewer, script, func() error {
		_, err := io.WriteString(w, blocks)
		return err
	})
}
