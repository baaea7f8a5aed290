package main

import (
	"errors"
	"fmt"
	"net"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/live/port"
)

// portFlags are the options of the port that -serve opens. [listen] reads them.
func portFlags() []urfave.Flag {
	return []urfave.Flag{
		cli.Option{Needs: "serve", Not: "open", Flag: &urfave.StringFlag{Name: "auth", Category: cli.GroupLive,
			Usage: "answer at -serve only to who knows a line of `FILE`: a token (bearer), or NAME:PASSWORD (basic)"}},
		cli.Option{Needs: "tls-key", Flag: &urfave.StringFlag{Name: "tls-cert", Category: cli.GroupLive,
			Usage: "speak TLS at -serve, with the certificate in `FILE`, which is read again when it changes"}},
		cli.Option{Needs: "tls-cert", Flag: &urfave.StringFlag{Name: "tls-key", Category: cli.GroupLive, Usage: "the key of -tls-cert, a `FILE`"}},
		cli.Option{Needs: "serve", Flag: &urfave.BoolFlag{Name: "open", Category: cli.GroupLive,
			Usage: "let everybody who reaches -serve read; without it, an address that is not of this machine alone needs -auth or -tls-cert"}},
	}
}

// listen opens the port of -serve. It returns nil if there is none.
func listen(c *urfave.Context) (*port.Port, error) {
	address := c.String("serve")
	if address == "" {
		return nil, nil
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, cli.Usagef("-serve %s: an address has a host and a port, such as 127.0.0.1:8080", address)
	}
	p, err := port.Listen(port.Options{
		Address: address, Auth: c.String("auth"), Certificate: c.String("tls-cert"), Key: c.String("tls-key"), Open: c.Bool("open"),
	})
	if errors.Is(err, port.ErrExposed) {
		_, number, _ := net.SplitHostPort(address)
		return nil, cli.Usagef("-serve %s: everybody who reaches this machine could read the logs; -auth FILE asks for a password, -tls-cert and -tls-key encrypt, -open allows it, and -serve 127.0.0.1:%s is for this machine only",
			address, number)
	}
	if err != nil {
		return nil, cli.Usagef("-serve %s: %w", address, err)
	}
	if p.Exposed() {
		cli.Verbosef(c, "%s", fmt.Sprintf("%s: everybody who reaches this machine can read at -serve %s", c.App.Name, address))
	}
	return p, nil
}
