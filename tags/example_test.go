package tags_test

import (
	"fmt"
	"log"

	"hdrkit/tags"
)

// The tags that a command is to take, each with its name on the screen and that of a file for it.
func Example() {
	filter, err := tags.NewFilter([]string{"insert-.*,default"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, tag := range [][]byte{nil, []byte("insert-rt"), []byte("insert-a/b"), []byte("read-rt")} {
		if filter.Keeps(tag) {
			fmt.Println(tags.Text(tag), tags.FileName("run.", tag, ".hdr", false))
		}
	}
	// Output:
	// default run.default.hdr
	// insert-rt run.insert-rt.hdr
	// insert-a/b run.insert-a%2Fb.hdr
}

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
