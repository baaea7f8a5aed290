package hdrgo_test

import (
	"fmt"
	"log"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hdrkit/hdrlog/hdrgo"
)

func Example() {
	theirs := hdrhistogram.New(1, 3600000000, 3)
	if err := theirs.RecordValues(12345, 7); err != nil {
		log.Fatal(err)
	}
	ours, err := hdrgo.From(theirs)
	if err != nil {
		log.Fatal(err)
	}
	again, err := hdrgo.To(ours)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ours.TotalCount(), ours.Max(), again.TotalCount(), again.Max())
	// Output: 7 12351 7 12351
}
