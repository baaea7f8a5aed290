import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.HdrHistogram.DoubleHistogram;
import org.HdrHistogram.DoubleHistogramIterationValue;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogReader;

/** Has the reference read logs and prints "= FILE" and then what it finds, in the form of package dump. */
public class ReadLogs {
    public static void main(String[] paths) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String path : paths) {
            out.append("= ").append(path).append('\n');
            HistogramLogReader log = new HistogramLogReader(new File(path));
            while (log.hasNext()) {
                EncodableHistogram h = log.nextAbsoluteIntervalHistogram(-1e18, 1e18);
                if (h != null) {
                    out.append(line(h)).append('\n');
                }
            }
        }
        System.out.write(out.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }

    static String line(EncodableHistogram any) {
        List<String> values = new ArrayList<>();
        String counts;
        if (any instanceof DoubleHistogram) {
            DoubleHistogram h = (DoubleHistogram) any;
            counts = "double\t" + h.getNumberOfSignificantValueDigits() + "\t" + h.getTotalCount();
            for (DoubleHistogramIterationValue v : h.recordedValues()) {
                values.add(v.getValueIteratedTo() + ":" + v.getCountAtValueIteratedTo());
            }
        } else {
            Histogram h = (Histogram) any;
            counts = "integer\t" + h.getNumberOfSignificantValueDigits() + "\t" + h.getTotalCount();
            for (HistogramIterationValue v : h.recordedValues()) {
                values.add(v.getValueIteratedTo() + ":" + v.getCountAtValueIteratedTo());
            }
        }
        CRC32 crc = new CRC32();
        crc.update(String.join("\t", values).getBytes(StandardCharsets.US_ASCII));
        String tag = any.getTag() == null ? "-" : any.getTag();
        return String.format("%s\t%d\t%d\t%s\t%08x", tag, any.getStartTimeStamp(), any.getEndTimeStamp(), counts, crc.getValue());
    }
}
