import java.io.BufferedReader;
import java.io.FileReader;
import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.HdrHistogram.Recorder;

/** Records the rows TIME,VALUE,TAG of a table, both times in milliseconds, with the reference, and writes their log. */
public class Record {
    public static void main(String[] args) throws Exception {
        Map<Long, Map<String, Recorder>> seconds = new TreeMap<>();
        try (BufferedReader rows = new BufferedReader(new FileReader(args[0]))) {
            rows.readLine();
            for (String row; (row = rows.readLine()) != null;) {
                String[] fields = row.split(",");
                long nanoseconds = new BigDecimal(fields[1]).movePointRight(6).longValueExact();
                seconds.computeIfAbsent(Long.parseLong(fields[0]) / 1000, key -> new TreeMap<>())
                    .computeIfAbsent(fields[2], key -> new Recorder(3)).recordValue(nanoseconds);
            }
        }
        HistogramLogWriter log = new HistogramLogWriter(System.out);
        log.outputLogFormatVersion();
        log.setBaseTime(1000 * seconds.keySet().iterator().next());
        log.outputBaseTime(log.getBaseTime());
        log.outputStartTime(log.getBaseTime());
        log.outputLegend();
        seconds.forEach((second, recorders) -> recorders.forEach((tag, recorder) -> {
            Histogram interval = recorder.getIntervalHistogram();
            interval.setTag(tag);
            interval.setStartTimeStamp(1000 * second);
            interval.setEndTimeStamp(1000 * second + 1000);
            log.outputIntervalHistogram(interval);
        }));
    }
}
