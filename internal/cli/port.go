package cli

import (
	"errors"
	"fmt"
	"net"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/live/port"
)

// ListenFlags are the options of the port at which a command that follows logs tells how it does.
func ListenFlags() []cli.Flag {
	return append([]cli.Flag{&cli.StringFlag{Name: "listen", Category: GroupLive,
		Usage: "with -follow, answer scrapes of Prometheus at `ADDRESS`, such as 127.0.0.1:9103, and questions about health"}}, PortFlags("listen")...)
}

// PortFlags are the options of the port that an option opens. [Listen] reads them.
func PortFlags(option string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "auth", Category: GroupLive,
			Usage: "answer at -" + option + " only to who knows a line of `FILE`: a token (bearer), or NAME:PASSWORD (basic)"},
		&cli.StringFlag{Name: "tls-cert", Category: GroupLive,
			Usage: "speak TLS at -" + option + ", with the certificate in `FILE`, which is read again when it changes"},
		&cli.StringFlag{Name: "tls-key", Category: GroupLive, Usage: "the key of -tls-cert, a `FILE`"},
		&cli.BoolFlag{Name: "open", Category: GroupLive,
			Usage: "let everybody who reaches -" + option + " read; without it, an address that is not of this machine alone needs -auth or -tls-cert"},
	}
}

// CheckPort returns an error if the options of [PortFlags] do not go together.
func CheckPort(c *cli.Context, option string) error {
	for _, name := range []string{"auth", "tls-cert", "tls-key", "open"} {
		if Given(c, name) && c.String(option) == "" {
			return Usagef("-%s needs -%s", name, option)
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

// Listen opens the port at the address of an option. It returns nil if there is none. What says
// what everybody could read there.
func Listen(c *cli.Context, option string) (*port.Port, error) {
	address := c.String(option)
	if address == "" {
		return nil, nil
	}
	p, err := port.Listen(port.Options{
		Address: address, Auth: c.String("auth"), Certificate: c.String("tls-cert"), Key: c.String("tls-key"), Open: c.Bool("open"),
	})
	if errors.Is(err, port.ErrExposed) {
		_, number, _ := net.SplitHostPort(address)
		return nil, Usagef("-%s %s: everybody who reaches this machine could read the logs; -auth FILE asks for a password, -tls-cert and -tls-key encrypt, -open allows it, and -%s 127.0.0.1:%s is for this machine only",
			option, address, option, number)
	}
	if err != nil {
		return nil, Usagef("-%s %s: %w", option, address, err)
	}
	if p.Exposed() {
		Verbosef(c, "%s", fmt.Sprintf("%s: everybody who reaches this machine can read at -%s %s", c.App.Name, option, address))
	}
	return p, nil
}
