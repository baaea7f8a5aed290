package hgrm_test

import (
	"fmt"
	"log"
	"strings"

	"hdrkit/output/hgrm"
)

const text = `#[Tag: insert-rt]
       Value     Percentile TotalCount 1/(1-Percentile)

       0.082 0.000000000000          1           1.00
       1.206 0.500000000000       8010           2.00
     340.786 1.000000000000      16014
#[Mean    =        1.607, StdDeviation   =        9.271]
`

func Example() {
	all, err := hgrm.Read(strings.NewReader(text), "run.hgrm")
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range all {
		for _, row := range d.Rows {
			fmt.Printf("%s: %g%% of the values are at most %g\n", d.Name, row.Percentile, row.Value)
		}
	}
	// Output:
	// insert-rt: 0% of the values are at most 0.082
	// insert-rt: 50% of the values are at most 1.206
	// insert-rt: 100% of the values are at most 340.786
}
