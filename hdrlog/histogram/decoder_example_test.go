package histogram_test

import (
	"fmt"
	"log"

	"hdrkit/hdrlog/histogram"
)

// A decoder adds payloads straight to a sum.
func ExampleDecoder() {
	var encoder histogram.Encoder
	var texts [][]byte
	for n := range int64(3) {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			log.Fatal(err)
		}
		if err := h.RecordN(1000*(n+1), 10); err != nil {
			log.Fatal(err)
		}
		text, err := encoder.AppendBase64(nil, h)
		if err != nil {
			log.Fatal(err)
		}
		texts = append(texts, text)
	}

	var decoder histogram.Decoder
	var sum *histogram.Histogram
	for _, text := range texts {
		p, err := decoder.Open(text)
		if err != nil {
			log.Fatal(err)
		}
		if sum == nil {
			if sum, err = histogram.New(p.Layout()); err != nil {
				log.Fatal(err)
			}
		}
		if err := p.AddTo(sum); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(sum.TotalCount(), "values from", sum.Min(), "to", sum.Max())
	// Output: 30 values from 1000 to 3001
}
