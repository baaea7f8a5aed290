// Command results writes results as vegeta encodes them, to a file: results csv|json FILE. On
// standard output it prints what vegeta decodes from it: time, latency, status and whether the
// request failed.
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

func main() {
	file, err := os.Create(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	encode, decoder := vegeta.NewCSVEncoder(file), vegeta.NewCSVDecoder
	if os.Args[1] == "json" {
		encode, decoder = vegeta.NewJSONEncoder(file), vegeta.NewJSONDecoder
	}
	random := rand.New(rand.NewPCG(1, 2))
	errors := []string{"", "", "", "404 Not Found", "a, \"quoted\"\nerror", "\\ \t é", `"`}
	for n := range uint64(2000) {
		result := vegeta.Result{
			Attack:    errors[random.IntN(len(errors))],
			Seq:       n,
			Code:      []uint16{0, 200, 302, 404, 500}[random.IntN(5)],
			Timestamp: time.Unix(1_700_000_000, random.Int64N(60e9)).UTC(),
			Latency:   time.Duration(random.ExpFloat64() * 1e7),
			Error:     errors[random.IntN(len(errors))],
			Body:      make([]byte, random.IntN(10)),
			Method:    "GET",
			URL:       "http://localhost/?a=1,2",
			Headers:   http.Header{"X": errors[4:5]},
		}
		if err := encode(&result); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		log.Fatal(err)
	}
	decode := decoder(file)
	for {
		var r vegeta.Result
		if err := decode(&r); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Timestamp.UnixNano(), r.Latency.Nanoseconds(), r.Code, r.Code < 200 || r.Code >= 400)
	}
}
