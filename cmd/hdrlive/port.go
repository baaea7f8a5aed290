package main

import (
	"errors"
	"fmt"
	"net"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/port"
)

// portOptions returns the options of the port that -serve opens.
func portOptions(o *port.Options) []cli.Option {
	return []cli.Option{
		{
			Name:  "auth",
			Group: cli.GroupLive,
			Rules: cli.Rules{Needs: "serve", Not: "open"},
			Value: cli.Text(&o.Auth, ""),
			Usage: "answer at -serve only to clients that know a line of `FILE`: a token (bearer), or NAME:PASSWORD (basic)",
		},
		{
			Name:  "tls-cert",
			Group: cli.GroupLive,
			Rules: cli.Rules{Needs: "serve"},
			Value: cli.Text(&o.Certificate, ""),
			Usage: "speak TLS at -serve, with the certificate in `FILE`, which is read again when it changes",
		},
		{
			Name:  "tls-key",
			Group: cli.GroupLive,
			Rules: cli.Rules{Needs: "tls-cert"},
			Value: cli.Text(&o.Key, ""),
			Usage: "the key of -tls-cert, a `FILE`",
		},
		{
			Name:  "open",
			Group: cli.GroupLive,
			Rules: cli.Rules{Needs: "serve"},
			Value: cli.Bool(&o.Open),
			Usage: "let everybody who reaches -serve read; without it, an address that is not of " +
				"this machine alone needs -auth",
		},
	}
}

// listen opens the port of -serve. It returns nil without -serve.
func listen(std *message.Streams, o port.Options) (*port.Port, error) {
	address := o.Address
	if address == "" {
		return nil, nil
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, message.Usagef("-serve %s: an address has a host and a port, such as 127.0.0.1:8080", address)
	}
	if o.Certificate != "" && o.Key == "" {
		return nil, message.Usagef("-tls-cert needs -tls-key")
	}
	p, err := port.Listen(o)
	if errors.Is(err, port.ErrExposed) {
		_, number, _ := net.SplitHostPort(address)
		return nil, message.Usagef("-serve %s: everybody who reaches this machine could read the "+
			"logs; -auth FILE asks for a password, -open allows it, "+
			"and -serve 127.0.0.1:%s is for this machine only",
			address, number)
	}
	switch {
	case errors.As(err, new(*net.AddrError)):
		return nil, message.Usagef("-serve %s: %w", address, err)
	case err != nil: // no error of usage: a port in use may become free, a missing file may appear
		return nil, fmt.Errorf("-serve %s: %w", address, err)
	}
	if p.Exposed() {
		std.Say("everybody who reaches this machine can read at -serve %s", address)
	}
	return p, nil
}
