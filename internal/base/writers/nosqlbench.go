package writers

// nosqlbench states the unit of its values in a comment of its own, which any log may have.
var nosqlbench = Writer{Times: []string{".responsetime", ".servicetime", ".waittime"}}
