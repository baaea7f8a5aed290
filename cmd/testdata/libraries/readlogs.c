// Prints logs as README.md describes. The library does not add the base time of a log.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hdr_histogram.h"
#include "hdr_histogram_log.h"

static int64_t millis(hdr_timespec t) { return (int64_t)t.tv_sec * 1000 + (t.tv_nsec + 500000) / 1000000; }

static int read_log(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    printf("= %s\n", path);
    struct hdr_log_reader reader;
    hdr_log_reader_init(&reader);
    int result = hdr_log_read_header(&reader, file);
    while (result == 0) {
        char tag[1024] = "-";
        struct hdr_log_entry entry;
        memset(&entry, 0, sizeof entry);
        entry.tag = tag;
        entry.tag_len = sizeof tag;
        struct hdr_histogram *h = NULL;
        result = hdr_log_read_entry(&reader, file, &entry, &h);
        if (result != 0) {
            break;
        }
        printf("%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64, tag, millis(entry.start_timestamp),
               millis(entry.interval), h->total_count);
        for (int32_t i = 0; i < h->counts_len; i++) {
            int64_t count = hdr_count_at_index(h, i);
            if (count != 0) {
                printf("\t%" PRId64 ":%" PRId64, hdr_value_at_index(h, i), count);
            }
        }
        printf("\n");
        hdr_close(h);
    }
    fclose(file);
    if (result != EOF) {
        fprintf(stderr, "%s: %s\n", path, hdr_strerror(result));
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        failed |= read_log(argv[i]);
    }
    return failed;
}
