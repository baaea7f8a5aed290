import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * Writes an interval a second in microseconds, when it is over. The argument is their number. Standard input has the
 * start in ms since the epoch, after the first line of the log: a virtual machine starts slowly.
 */
public class JavaLog {
    public static void main(String[] args) throws Exception {
        int seconds = Integer.parseInt(args[0]);
        Random random = new Random(1);
        HistogramLogWriter writer = new HistogramLogWriter(new PrintStream(System.out, true));
        writer.outputLogFormatVersion();
        long start = Long.parseLong(new BufferedReader(new InputStreamReader(System.in)).readLine());
        writer.outputBaseTime(start);
        writer.setBaseTime(start);
        writer.outputStartTime(start);
        writer.outputLegend();
        for (int s = 0; s < seconds; s++) {
            Histogram histogram = new Histogram(3);
            for (int i = 0; i < 100; i++) {
                histogram.recordValue((long) (1000 * Math.exp(random.nextGaussian())));
            }
            histogram.setTag("java-rt");
            histogram.setStartTimeStamp(start + s * 1000L);
            histogram.setEndTimeStamp(start + (s + 1) * 1000L);
            Thread.sleep(Math.max(0, histogram.getEndTimeStamp() - System.currentTimeMillis()));
            writer.outputIntervalHistogram(histogram);
            System.out.flush();
        }
    }
}
