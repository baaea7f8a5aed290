package tags_test

import (
	"fmt"
	"log"

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
	filter, err := tags.NewFilter([]string{"insert-.*,default"}, []string{"insert-wt"})
	if err != nil {
		log.Fatal(err)
	}
	for _, tag := range [][]byte{[]byte("insert-rt"), []byte("insert-wt"), []byte("read-rt"), nil} {
		fmt.Println(tags.Text(tag), filter.Keeps(tag))
	}
	// Output:
	// insert-rt true
	// insert-wt false
	// read-rt false
	// default true
}
