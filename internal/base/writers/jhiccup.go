package writers

var jHiccup = Writer{Comment: "[Logged with jHiccup ", Unit: "ns"}
