package cli

import (
	"errors"
	"fmt"
	"net"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/live/port"
)

// PortFlags are the options of the port that -serve opens. [Listen] reads them.
func PortFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "auth", Category: GroupLive,
			Usage: "answer at -serve only to who knows a line of `FILE`: a token (bearer), or NAME:PASSWORD (basic)"},
		&cli.StringFlag{Name: "tls-cert", Category: GroupLive,
			Usage: "speak TLS at -serve, with the certificate in `FILE`, which is read again when it changes"},
		&cli.StringFlag{Name: "tls-key", Category: GroupLive, Usage: "the key of -tls-cert, a `FILE`"},
		&cli.BoolFlag{Name: "open", Category: GroupLive,
			Usage: "let everybody who reaches -serve read; without it, an address that is not of this machine alone needs -auth or -tls-cert"},
	}
}

// checkPort returns an error if the options of [PortFlags] do not go together.
func checkPort(c *cli.Context) error {
	for _, name := range []string{"auth", "tls-cert", "tls-key", "open"} {
		if Given(c, name) && c.String("serve") == "" {
			return Usagef("-%s needs -serve", name)
		}
	}
	switch {
	case Given(c, "tls-cert") != Given(c, "tls-key"):
		return Usagef("-tls-cert and -tls-key go together")
	case Given(c, "open") && Given(c, "auth"):
		return Usagef("-open lets everybody read, -auth does not: one of them only")
	}
	return nil
}

// Listen opens the port of -serve. It returns nil if there is none.
func Listen(c *cli.Context) (*port.Port, error) {
	address := c.String("serve")
	if err := checkPort(c); err != nil || address == "" {
		return nil, err
	}
	p, err := port.Listen(port.Options{
		Address: address, Auth: c.String("auth"), Certificate: c.String("tls-cert"), Key: c.String("tls-key"), Open: c.Bool("open"),
	})
	if errors.Is(err, port.ErrExposed) {
		_, number, _ := net.SplitHostPort(address)
		return nil, Usagef("-serve %s: everybody who reaches this machine could read the logs; -auth FILE asks for a password, -tls-cert and -tls-key encrypt, -open allows it, and -serve 127.0.0.1:%s is for this machine only",
			address, number)
	}
	if err != nil {
		return nil, Usagef("-serve %s: %w", address, err)
	}
	if p.Exposed() {
		Verbosef(c, "%s", fmt.Sprintf("%s: everybody who reaches this machine can read at -serve %s", c.App.Name, address))
	}
	return p, nil
}
