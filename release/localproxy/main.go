// Localproxy makes a module proxy in a folder, for GOPROXY=file://FOLDER. The proxy has one version of
// one module: the newest commit of a git repository. Tests install the commands from this proxy, as
// users install them from a public proxy.
//
// Usage: localproxy REPOSITORY VERSION FOLDER
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: localproxy REPOSITORY VERSION FOLDER")
		os.Exit(2)
	}
	if err := writeProxy(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "localproxy:", err)
		os.Exit(1)
	}
}

// writeProxy writes the newest commit of a repository as a version of its module.
func writeProxy(repository, version, folder string) error {
	mod, err := exec.Command("git", "-C", repository, "show", "HEAD:go.mod").Output()
	if err != nil {
		return err
	}
	m := module.Version{Path: modfile.ModulePath(mod), Version: version}
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	folder = filepath.Join(folder, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list": version + "\n", version + ".info": fmt.Sprintf("{%q:%q}\n", "Version", version), version + ".mod": string(mod),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		return err
	}
	defer f.Close()
	// Like a public proxy, the archive leaves out folders that are modules of their own.
	if err := zip.CreateFromVCS(f, m, repository, "HEAD", ""); err != nil {
		return err
	}
	return f.Close()
}
