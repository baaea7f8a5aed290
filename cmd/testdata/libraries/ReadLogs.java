import java.io.File;
import java.io.PrintStream;
import org.HdrHistogram.DoubleHistogram;
import org.HdrHistogram.DoubleHistogramIterationValue;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogReader;

/** Prints logs as README.md describes. It prints a value of a double histogram as the bits of the double. */
public class ReadLogs {
    public static void main(String[] paths) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String path : paths) {
            out.append("= ").append(path).append('\n');
            HistogramLogReader log = new HistogramLogReader(new File(path));
            while (log.hasNext()) {
                EncodableHistogram h = log.nextAbsoluteIntervalHistogram(-1e18, 1e18);
                if (h == null) {
                    continue;
                }
                out.append(h.getTag() == null ? "-" : h.getTag());
                out.append('\t').append(h.getStartTimeStamp());
                out.append('\t').append(h.getEndTimeStamp() - h.getStartTimeStamp());
                if (h instanceof DoubleHistogram) {
                    print(out, (DoubleHistogram) h);
                } else {
                    print(out, (Histogram) h);
                }
                out.append('\n');
            }
        }
        PrintStream stdout = new PrintStream(System.out, false, "UTF-8");
        stdout.print(out);
        stdout.flush();
    }

    static void print(StringBuilder out, Histogram h) {
        out.append('\t').append(h.getTotalCount());
        for (HistogramIterationValue v : h.recordedValues()) {
            out.append('\t').append(h.lowestEquivalentValue(v.getValueIteratedTo()));
            out.append(':').append(v.getCountAtValueIteratedTo());
        }
    }

    static void print(StringBuilder out, DoubleHistogram h) {
        out.append('\t').append(h.getTotalCount());
        for (DoubleHistogramIterationValue v : h.recordedValues()) {
            out.append('\t').append(Double.doubleToLongBits(h.lowestEquivalentValue(v.getValueIteratedTo())));
            out.append(':').append(v.getCountAtValueIteratedTo());
        }
    }
}
