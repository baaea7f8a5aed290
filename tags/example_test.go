package tags_test

import (
	"fmt"

	"hdrkit/tags"
)

func ExampleText() {
	fmt.Println(tags.Text([]byte("insert-rt")))
	fmt.Println(tags.Text(nil))
	fmt.Println(tags.Text([]byte("default")))
	fmt.Println(tags.Text([]byte("red\x1b[31m")))
	// Output:
	// insert-rt
	// default
	// %64efault
	// red%1B[31m
}

func ExampleFileName() {
	fmt.Println(tags.FileName("", []byte("a/b"), ".run.hdr", false))
	fmt.Println(tags.FileName("", nil, ".run.hdr", false))
	// Output:
	// a%2Fb.run.hdr
	// default.run.hdr
}

func ExampleFilter() {
	filter := tags.NewFilter([]string{"insert-rt", "default"}, nil)
	fmt.Println(filter.Keeps([]byte("insert-rt")), filter.Keeps([]byte("insert-st")), filter.Keeps(nil))
	// Output: true false true
}
